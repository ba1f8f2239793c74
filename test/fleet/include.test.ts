import { expect, test } from 'vitest'
import { at } from '../../src/kube/node.ts'
import { scopeVerdict } from '../../src/verdict/verdict-views.ts'
import { evaluationOf, type Files, fleetOf, type Given } from './fleet-of.ts'
import { DEV_URL, fleetFiles, miniFleet } from './mini-fleet.ts'

const SHARED_URL = 'https://github.com/acme/shared'
const SHARED = `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shared, namespace: apps}
spec: {interval: 1m, url: "${SHARED_URL}", ref: {branch: main}, ignore: "/secret\\n"}
`
const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\n`
const shared: Files = {
  'base/kustomization.yaml': 'resources: [a.yaml]\n',
  'base/a.yaml': map('shared'),
  'base/b.png': 'x',
  'secret/s.yaml': map('secret'),
}
const dev: Files = {
  'deploy/kustomization.yaml': 'resources: [own.yaml, ../lib]\n',
  'deploy/own.yaml': map('own'),
  'deploy-more/x.yaml': map('x'),
}

interface More {
  readonly more?: string
  readonly opaque?: boolean
  readonly absent?: boolean
  readonly sharedFiles?: Files
}

function givenWith(fields: string, files: Files, given: More): Given {
  const key = 'tenants/dev-team.yaml'
  const own = fleetFiles[key]!.replace('  ref:\n    branch: main', `  ref: {branch: main}\n  ${fields}`)
  expect(own).not.toBe(fleetFiles[key])
  const base = miniFleet({ fleet: { [key]: own + (given.more ?? SHARED) } })
  const sources = (base.sources ?? []).filter(source => source.url !== DEV_URL)
  const include = { url: SHARED_URL, ref: { branch: 'main' } }
  return {
    ...base,
    sources: [
      ...sources,
      { url: DEV_URL, files },
      ...(given.opaque || given.absent ? [] : [{ ...include, files: given.sharedFiles ?? shared }]),
    ],
    opaque: [...(base.opaque ?? []), ...(given.opaque ? [{ ...include, reason: 'no access' }] : [])],
  }
}

function nodeWith(fields: string, files: Files = dev, given: More = {}) {
  const fleet = fleetOf(givenWith(fields, files, given))
  return { fleet, node: fleet.nodes.find(node => node.key === 'staging/apps/dev-team')! }
}
const names = (node: ReturnType<typeof nodeWith>['node']) =>
  node.objects.map(object => String((at(object.root, ['metadata', 'name']) as { value: unknown }).value))

test('what is included is built, with its own ignore rules, and keeps its place', () => {
  const { node } = nodeWith('include: [{repository: {name: shared}, fromPath: base, toPath: lib}]')
  expect(node.error).toBeUndefined()
  expect(names(node)).toEqual(['own', 'shared'])
  expect(node.objects[1]!.root.origin).toMatchObject({ repository: SHARED_URL, file: 'base/a.yaml', line: 1 })
})

test('without toPath it lies below the name of the source; its ignored files are not there', () => {
  const files = { ...dev, 'deploy/kustomization.yaml': 'resources: [own.yaml, ../shared/base]\n' }
  expect(names(nodeWith('include: [{repository: {name: shared}}]', files).node)).toEqual(['own', 'shared'])
  const secret = { ...dev, 'deploy/kustomization.yaml': 'resources: [../shared/secret/s.yaml]\n' }
  expect(nodeWith('include: [{repository: {name: shared}}]', secret).node.error).toMatchObject({
    code: 'kustomize-missing',
  })
})

test.each([
  ['{repository: {name: shared}, fromPath: none, toPath: lib}', 'flux-invalid'],
  ['{repository: {name: shared}, toPath: .}', 'flux-invalid'],
  ['{repository: {name: shared}, toPath: ../..}', 'flux-invalid'],
  ['{repository: {name: shared}, fromPath: base, toPath: deploy}', 'flux-invalid'],
  ['{repository: {name: shared}, fromPath: base, toPath: deploy/own.yaml/x}', 'flux-invalid'],
  ['{repository: {name: shared}, toPath: .git/x}', 'flux-invalid'],
  ['{repository: {}}', 'flux-invalid'],
  ['{repository: {name: dev-team}}', 'flux-invalid'],
  ['{repository: {name: nobody}}', 'flux-invalid'],
])('include %s: %s', (include, code) => {
  expect(nodeWith(`include: [${include}]`).node.error).toMatchObject({ code })
})

test('whose signature Flux checks of what is included, whoever applies it asks for', () => {
  const include = 'include: [{repository: {name: shared}, fromPath: base, toPath: lib}]'
  const verify = 'verify: {mode: HEAD, secretRef: {name: keys}}'
  const more = SHARED.replace('interval: 1m', `interval: 1m, ${verify}`)
  expect(more).not.toBe(SHARED)
  const includesOf = (given: More) => {
    const nodes = evaluationOf(givenWith(include, dev, given)).nodes
    return nodes.find(node => node.key === 'staging/apps/dev-team')!.source.includes
  }
  const text = '{"mode":"HEAD","secretRef":{"name":"keys"}}'
  expect(includesOf({ more })).toMatchObject([{ id: 'GitRepository/apps/shared', verify: text }])
  expect(includesOf({})![0]).not.toHaveProperty('verify')
})

test('sources that include each other never get content', () => {
  const more = SHARED.replace('interval: 1m', 'interval: 1m, include: [{repository: {name: dev-team}}]')
  const { node } = nodeWith('include: [{repository: {name: shared}, toPath: lib}]', dev, { more })
  expect(node.error).toMatchObject({ code: 'flux-invalid' })
})

test('an included source that nobody has read is asked for; one that nobody can read makes the whole opaque', () => {
  const include = 'include: [{repository: {name: shared}, fromPath: base, toPath: lib}]'
  expect(nodeWith(include, dev, { absent: true }).fleet.wanted).toEqual([{ url: SHARED_URL, ref: { branch: 'main' } }])
  const { node } = nodeWith(include, dev, { opaque: true })
  expect(node.source).toMatchObject({ url: DEV_URL, opaque: 'it includes GitRepository/apps/shared: no access' })
})

test('what is wrong with include or sparseCheckout shows before any content is read', () => {
  for (const fields of ['include: {}', 'include: [{toPath: lib}]', 'sparseCheckout: a']) {
    const given = givenWith(fields, dev, {})
    const fleet = fleetOf({ ...given, sources: (given.sources ?? []).filter(source => source.url !== DEV_URL) })
    const node = fleet.nodes.find(one => one.key === 'staging/apps/dev-team')
    expect(node?.error, fields).toMatchObject({ code: 'flux-invalid' })
  }
})

test('a change of an included repository concerns the nodes that include it, and nobody else', () => {
  const include = 'include: [{repository: {name: shared}, fromPath: base, toPath: lib}]'
  const evil = { ...shared, 'base/a.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: evil}\n' }
  const { node } = nodeWith(include)
  expect(node.source.includes).toEqual([
    { id: 'GitRepository/apps/shared', url: SHARED_URL, ref: { branch: 'main' }, commit: 'a'.repeat(40) },
  ])
  const evaluation = evaluationOf(givenWith(include, dev, { sharedFiles: evil }))
  const violations = (url: string) => scopeVerdict(evaluation, url, { keepNew: false }).violations.map(one => one.rule)
  expect(violations(SHARED_URL)).not.toEqual([])
  expect(violations(SHARED_URL)).toEqual(violations(DEV_URL))
  expect(violations('https://github.com/acme/other')).toEqual([])
})

test('a sparse checkout holds what starts with its directories, and nothing else', () => {
  const files = { ...dev, 'deploy/kustomization.yaml': 'resources: [own.yaml, ../deploy-more/x.yaml]\n' }
  expect(names(nodeWith('sparseCheckout: [./deploy]', files).node)).toEqual(['own', 'x'])
  const lib = { ...files, 'lib/a.yaml': map('lib'), 'deploy/kustomization.yaml': 'resources: [../lib/a.yaml]\n' }
  expect(nodeWith('sparseCheckout: [deploy]', lib).node.error).toMatchObject({ code: 'kustomize-missing' })
  expect(nodeWith('sparseCheckout: [deploy/]').node.error).toMatchObject({ code: 'flux-invalid' })
  expect(nodeWith('sparseCheckout: [none]').node.error).toMatchObject({ code: 'flux-invalid' })
})

test('submodules are asked for only where there are some', () => {
  const files = { ...dev, 'deploy/kustomization.yaml': 'resources: [own.yaml]\n' }
  expect(names(nodeWith('recurseSubmodules: true', files).node)).toEqual(['own'])
})
