import { describe, expect, test } from 'vitest'
import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import { display, idOf } from '../../src/kube/object.ts'
import { evaluationOf, type Files, fleetOf } from './fleet-of.ts'
import { fleetFiles, miniFleet } from './mini-fleet.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const URL = 'https://github.com/acme/base'
const LOCKED = 'clusters/staging/flux-system/kustomization.yaml'
const OPEN = { [LOCKED]: fleetFiles[LOCKED]!.replace('value: --no-remote-bases', 'value: --x') }

const remote: Files = {
  'deploy/kustomization.yaml': 'resources: [config.yaml, ../more]\nnamePrefix: far-\n',
  'deploy/config.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: deploy, namespace: flux-system}\n',
  'more/kustomization.yaml': 'resources: [config.yaml]\n',
  'more/config.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: flux-system}\n',
  'out/kustomization.yaml': 'resources: [../more/config.yaml, ../../tenants/dev-team.yaml]\n',
  'component/kustomization.yaml': 'kind: Component\nnameSuffix: -x\n',
}

/** The fleet with these entries in the kustomization of the platform. */
function given(entries: string, { fleet = OPEN, ref = { commit: COMMIT }, files = remote }: Options = {}) {
  const input = miniFleet({ fleet: { ...fleet, 'tenants/kustomization.yaml': entries } })
  return { ...input, sources: [...input.sources!, { url: URL, ref, files }] }
}

interface Options {
  readonly fleet?: Files
  readonly ref?: SourceRef
  readonly files?: Files
}

const tenants = (input: ReturnType<typeof given>) => fleetOf(input).nodes.find(({ name }) => name === 'tenants')!

const built = (input: ReturnType<typeof given>) =>
  tenants(input)
    .objects.map(object => display(idOf(object)))
    .filter(name => name.startsWith('ConfigMap'))

const own = 'resources: [dev-team.yaml, ops-team.yaml]\n'
const beside = (address: string) => `resources:\n- dev-team.yaml\n- ops-team.yaml\n- ${address}\n`
const raw = (path: string) => `https://raw.githubusercontent.com/acme/base/${COMMIT}/${path}`

describe('a base of another repository at a commit is built', () => {
  test.for([
    `https://github.com/acme/base//deploy?ref=${COMMIT}`,
    `https://github.com/acme/base/deploy?ref=${COMMIT}`,
    `https://github.com/acme/base.git/deploy?version=${COMMIT}&timeout=90s`,
    `github.com/acme/base/deploy?ref=${COMMIT}`,
  ])('%s', address => {
    const input = given(beside(address))
    expect(built(input)).toEqual(['ConfigMap flux-system/far-deploy', 'ConfigMap flux-system/far-more'])
    expect(tenants(input)).toMatchObject({ digest: expect.stringMatching(/./) })
    expect(tenants(input).holes).toBeUndefined()
    expect(fleetOf(input)).toMatchObject({ wanted: [], notSeen: [] })
  })

  test.for([raw('more/config.yaml'), `https://github.com/acme/base/raw/${COMMIT}/more/config.yaml`])('%s', address => {
    expect(built(given(beside(address)))).toEqual(['ConfigMap flux-system/more'])
  })

  test('as a component', () => {
    const entries = `${own}components: ['https://github.com/acme/base//component?ref=${COMMIT}']\n`
    expect(tenants(given(entries)).objects.map(object => idOf(object).name)).toContain('gotk-reconciler-x')
  })

  test('its values know the file that wrote them', () => {
    const { objects, source } = tenants(given(beside(`https://github.com/acme/base//deploy?ref=${COMMIT}`)))
    const [config] = objects.filter(object => idOf(object).name === 'far-deploy')
    expect(config!.root.origin).toMatchObject({ repository: URL, file: 'deploy/config.yaml' })
    expect(config!.trail.map(({ file }) => file)).toEqual(['deploy/kustomization.yaml', 'tenants/kustomization.yaml'])
    expect(source.includes).toMatchObject([{ url: URL, ref: { commit: COMMIT } }])
  })
})

describe('what is not at hand is left out', () => {
  const address = `https://github.com/acme/base//deploy?ref=${COMMIT}`
  const hole = { fatal: false, effect: 'missing', remote: address }

  test('it is asked for, and left out until then', () => {
    const input = given(beside(address), { ref: { branch: 'main' } })
    expect(fleetOf(input).wanted).toEqual([{ url: URL, ref: { commit: COMMIT } }])
    expect(tenants(input)).toMatchObject({ digest: '', holes: [hole] })
  })

  test('what cannot be read is not visible', () => {
    const opaque = [{ url: URL, ref: { commit: COMMIT }, reason: 'no access' }]
    const input = { ...given(beside(address), { ref: { branch: 'main' } }), opaque }
    expect(fleetOf(input).wanted).toEqual([])
    expect(tenants(input)).toMatchObject({ digest: '', holes: [hole] })
    expect(evaluationOf(input).verdict.notSeen).toMatchObject([{ url: address }])
  })

  test.for([
    'https://github.com/acme/base//deploy?ref=main',
    `https://github.com/acme/base//deploy?ref=${COMMIT.slice(0, 12)}`,
    `https://github.com/acme/base//deploy?ref=${COMMIT.toUpperCase()}`,
    'https://raw.githubusercontent.com/acme/base/main/more/config.yaml',
    'https://github.com/acme/base/releases/download/v1/config.yaml',
    `https://example.org/acme/base//deploy?ref=${COMMIT}`,
    `https://github.com/acme/base//deploy/../../x?ref=${COMMIT}`,
    `https://github.com/acme/base//deploy?ref=${COMMIT}&ref=main`,
    `http://raw.githubusercontent.com/acme/base/${COMMIT}/more/config.yaml`,
    `https://user:pass@github.com/acme/base//deploy?ref=${COMMIT}`,
  ])('%s is no commit of a repository', other => {
    const input = given(beside(other))
    expect(fleetOf(input).wanted).toEqual([])
    expect(tenants(input).holes).toMatchObject([{ fatal: false, remote: expect.any(String) }])
  })

  test('a tenant fetches nothing', () => {
    const input = miniFleet({ fleet: OPEN, dev: { 'deploy/kustomization.yaml': `resources: ['${address}']\n` } })
    const sources = [...input.sources!, { url: URL, ref: { commit: COMMIT }, files: remote }]
    const { verdict } = evaluationOf({ ...input, sources })
    expect(verdict.violations).toMatchObject([{ rule: 'kustomize-remote-base', tenant: 'dev-team' }])
    expect(fleetOf({ ...input, sources }).wanted).toEqual([])
  })

  test('nor does the platform where Flux is told not to', () => {
    const input = given(beside(address), { fleet: {} })
    expect(tenants(input).holes).toMatchObject([{ ...hole, fatal: true }])
    expect(evaluationOf(input).verdict.violations).toMatchObject([{ rule: 'kustomize-remote-base' }])
  })

  test.for([
    'github.com/acme/base//deploy?ref=main',
    'https://github.com/acme/base//deploy?ref=main',
    'https://github.com/acme/base.git/deploy?ref=main',
    'git::https://example.org/acme/base//deploy',
    'ssh://git@example.org/acme/base',
    'git@example.org:acme/base',
    'file:///srv/base',
  ])('with --no-remote-bases Flux refuses %s', other => {
    const node = tenants(given(beside(other), { fleet: {} }))
    expect(node.holes).toMatchObject([{ fatal: true }])
    expect(node.error).toBeDefined()
  })

  // what the server answers decides: a file of any of these addresses is built, seen with flux-render
  test.for([
    'https://example.org/config.yaml',
    'HTTPS://example.org/config.yaml',
    'http://example.org/acme/base//deploy?ref=main',
    'https://example.org/acme/base.git',
    'https://github.com/acme/base/releases/download/v1/config.yaml',
    'https://github.com/acme/base/raw/main/config.yaml?ref=main',
    'https://github.com/acme/base//raw/main/config.yaml?ref=main',
    'https://raw.githubusercontent.com/acme/base/main/more/config.yaml',
  ])('with --no-remote-bases Flux may still fetch %s', other => {
    const node = tenants(given(beside(other), { fleet: {} }))
    expect(node.holes).toMatchObject([{ fatal: false }])
    expect(node).toMatchObject({ digest: '' })
    expect(node.error).toBeUndefined()
  })

  test('what GitHub serves itself is no directory of a repository', () => {
    const other = `https://github.com/acme/base/raw/main/config.yaml?ref=${COMMIT}`
    const files = { ...remote, 'raw/main/config.yaml/kustomization.yaml': 'resources: []\n' }
    expect(tenants(given(beside(other), { files })).holes).toMatchObject([{ fatal: false, remote: other }])
  })
})

describe('no path leads from one repository into another', () => {
  test.for([
    ['../more/config.yaml', 'a file outside of the directory'],
    ['../../tenants/dev-team.yaml', 'a file of the fleet'],
    ['../../../etc', 'a directory above'],
    [`../${'../'.repeat(8)}tenants`, 'a directory of the fleet'],
  ])('%s: %s', ([entry]) => {
    const files = { ...remote, 'deploy/kustomization.yaml': `resources: ['${entry}']\n` }
    const node = tenants(given(beside(`https://github.com/acme/base//deploy?ref=${COMMIT}`), { files }))
    expect(node).toMatchObject({ digest: '', holes: [{ error: { code: expect.stringMatching(/^kustomize-/) } }] })
  })

  test('not even in what follows from there', () => {
    const files = { ...remote, 'deploy/kustomization.yaml': "resources: ['https://github.com/other/x//y?ref=main']\n" }
    const node = tenants(given(beside(`https://github.com/acme/base//deploy?ref=${COMMIT}`), { files }))
    expect(node.holes).toMatchObject([{ remote: 'https://github.com/other/x//y?ref=main' }])
  })
})
