import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { judge } from '../../src/evaluate/verdict/judge.ts'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import type { FleetInput } from '../../src/fleet/model/input.ts'
import { type Files, inputOf } from '../fleet/fleet-of.ts'
import { devFiles, fleetFiles, miniFleet } from '../fleet/mini-fleet.ts'

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`
const extra = (text: string) => ({
  'deploy/kustomization.yaml': 'resources: [web.yaml, extra.yaml]\n',
  'deploy/extra.yaml': text,
})
const configMap = (fields: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps}\n${fields}`

const labelled = (value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps, labels: {__proto__: {a: ${value}}}}\n`

/** What a rule leaves out of a tenant's build and Flux applies, and the same with other bytes. */
const LEFT_OUT: Readonly<Record<string, { files: Files; others: Files }>> = {
  'yaml-ambiguous': { files: extra(configMap('data: {a: !foo x}\n')), others: extra(configMap('data: {a: !foo y}\n')) },
  'proto-pollution': {
    files: extra(labelled('b')),
    others: extra(labelled('c')),
  },
  'git-lfs-pointer': { files: extra(POINTER), others: extra(POINTER.replaceAll('a', 'b').replace('sh' + 'b', 'sha')) },
  'kustomize-remote-base': {
    files: { 'deploy/kustomization.yaml': 'resources: [web.yaml, "https://example.com/a.yaml"]\n' },
    others: { 'deploy/kustomization.yaml': 'resources: [web.yaml, "https://example.com/a.yaml?b"]\n' },
  },
  'kustomize-case-variant-key': {
    files: { 'deploy/kustomization.yaml': 'resources: [web.yaml]\nnameprefix: x-\n' },
    others: { 'deploy/kustomization.yaml': 'resources: [web.yaml]\nnameprefix: y-\n' },
  },
}

const OF_DEV = 'tenants/dev-team.yaml'
const WRITTEN = fleetFiles[OF_DEV]!

/** The fleet with fields of the spec of dev-team's Kustomization, or its whole text otherwise. */
function world(files: Files, spec = '', edit = (text: string) => text): FleetInput {
  const kustomization = edit(WRITTEN.replace('  path: ./deploy\n', `  path: ./deploy\n${spec}`))
  return inputOf(miniFleet({ fleet: { [OF_DEV]: kustomization }, dev: { ...devFiles, ...files } }))
}

function judged(head: FleetInput, base: FleetInput) {
  const { verdict } = judge(buildFleet({ ...head, config: base.fleet.tree }), {
    combination: 'c',
    base: buildFleet(base),
  })
  return verdict
}

/** What has the hidden bytes applied otherwise. */
const ANEW: Readonly<Record<string, { spec?: string; base?: string; edit?: (text: string) => string }>> = {
  unsuspended: { base: '  suspend: true\n' },
  'with a target namespace': { spec: '  targetNamespace: apps\n' },
  'with a patch': { spec: "  patches: [{target: {kind: Secret}, patch: '- {op: add, path: /a, value: b}'}]\n" },
  'with an image': { spec: '  images: [{name: nginx, newTag: "2"}]\n' },
  'with a component': { spec: '  components: [../part]\n' },
  'with a prefix': { spec: '  namePrefix: x-\n' },
  'with labels for all': { spec: '  commonMetadata: {labels: {a: b}}\n' },
  'with variables': { spec: '  postBuild: {substitute: {a: b}}\n' },
  'with force': { spec: '  force: true\n' },
  'as another account': { edit: text => text.replace('serviceAccountName: dev-team', 'serviceAccountName: other') },
}

/** What changes nothing about them. */
const SAME: Readonly<Record<string, { spec?: string; base?: string; edit?: (text: string) => string }>> = {
  suspended: { spec: '  suspend: true\n' },
  'still suspended': { base: '  suspend: true\n', spec: '  suspend: true\n  force: true\n' },
  'with another timeout': { spec: '  timeout: 1m\n' },
  'with a wait': { spec: '  wait: true\n' },
  'on other lines': { edit: text => `# more\n${text}` },
}

const part = {
  'part/kustomization.yaml': 'kind: Component\nresources: [a.yaml]\n',
  'part/a.yaml': configMap('').replace('x,', 'y,'),
}

describe.for(Object.entries(LEFT_OUT))('%s: bytes that nobody has read', ([rule, { files, others }]) => {
  const all = { ...part, ...files }
  const about = (head: FleetInput, base: FleetInput) =>
    judged(head, base).violations.filter(one => one.rule === rule && one.hides !== undefined)

  test('are existing where nothing changes', () => {
    expect(about(world(all), world(all)).map(({ state }) => state)).toEqual(['standing'])
  })
  test('are new where they change', () => {
    const [one] = about(world({ ...part, ...others }), world(all))
    expect(one).toMatchObject({ rule, state: 'new' })
  })
  test.for(Object.entries(ANEW))('are new %s', ([, { spec, base, edit }]) => {
    const [one] = about(world(all, spec, edit), world(all, base))
    expect(one).toMatchObject({ rule, state: 'new' })
    expect(one!.message).toMatch(
      /What is not evaluated because of it changed, or is applied in another place or form|\. Before, nothing of it was applied/,
    )
  })
  test.for(Object.entries(SAME))('are existing %s', ([, { spec, base, edit }]) => {
    expect(about(world(all, spec, edit), world(all, base)).map(({ state }) => state)).toEqual(['standing'])
  })
  test('are new where Flux refused all of it before', () => {
    const broken = { ...all, 'deploy/web.yaml': 'kind: [\n' }
    expect(about(world(all), world(broken)).map(({ state }) => state)).toEqual(['new'])
    expect(about(world(broken), world(all)).map(({ state }) => state)).toEqual(['standing'])
  })
})

/** What is an evaluation error of a tenant's, and no violation. */
describe('what only this engine cannot do, of a tenant', () => {
  const files = {
    'deploy/kustomization.yaml': 'resources: [web.yaml]\nvars: [{name: A, objref: {kind: Deployment, name: web}}]\n',
    ...part,
  }
  const errors = (head: FleetInput, base: FleetInput) => judged(head, base).errors

  test.for(Object.entries(ANEW))('is an error again %s', ([name, { spec, base, edit }]) => {
    const [one] = errors(world(files, spec, edit), world(files, base))
    expect(one).toMatchObject({ code: 'kustomize-unsupported', state: 'new' })
    if (name === 'unsuspended') expect(one!.message).toContain('is applied anew: in another place or form')
  })
  test.for(Object.entries(SAME))('is existing %s', ([, { spec, base, edit }]) => {
    expect(errors(world(files, spec, edit), world(files, base)).map(({ state }) => state)).toEqual(['standing'])
  })
})

test('values that a ConfigMap of the tenant gives count like those that are written in the spec', () => {
  const values = (value: string) => ({
    ...LEFT_OUT['yaml-ambiguous']!.files,
    'deploy/kustomization.yaml': 'resources: [web.yaml, extra.yaml, values.yaml]\n',
    'deploy/values.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values, namespace: apps}\ndata: {a: ${value}}\n`,
  })
  const spec = '  postBuild: {substituteFrom: [{kind: ConfigMap, name: values}]}\n'
  const states = (head: string, base: string) =>
    judged(world(values(head), spec), world(values(base), spec)).violations.map(({ rule, state }) => [rule, state])
  expect(states('x', 'x')).toContainEqual(['yaml-ambiguous', 'standing'])
  expect(states('y', 'x')).toContainEqual(['yaml-ambiguous', 'new'])
})

test('what is left out for the platform passes with an approval, and again where it is unsuspended', () => {
  const addons = (spec: string, fields = '') => ({
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, addons.yaml]\n',
    'clusters/staging/addons.yaml': fleetFiles['clusters/staging/tenants.yaml']!.replaceAll(
      'tenants',
      'addons',
    ).replace('  prune: true\n', `  prune: true\n${spec}`),
    'addons/kustomization.yaml': `resources: [c.yaml]\n${fields}`,
    'addons/c.yaml': configMap(''),
  })
  const vars = 'vars: [{name: A, objref: {apiVersion: v1, kind: ConfigMap, name: x}}]\n'
  const asked = (head: string, base: string) => {
    const [now, before] = [head, base].map(spec => inputOf(miniFleet({ fleet: addons(spec, vars) })))
    return judged(now!, before!).requiredApprovals.map(({ path }) => path)
  }
  expect(asked('', '  suspend: true\n')).toEqual(['addons/kustomization.yaml'])
  expect(asked('  suspend: true\n', '')).toEqual([])
  expect(asked('  force: true\n', '')).toEqual(['addons/kustomization.yaml'])
  expect(asked('  timeout: 1m\n', '')).toEqual([])
})

/** Rules by whose errors Flux refuses the whole, so that nothing of it is applied. */
const REFUSED = [
  'kustomize-helm-inflate',
  'kustomize-plugin',
  'kustomize-symlink',
  'source-submodules',
  'kustomize-path-escape',
]

test('every rule by which the engine leaves something out is one of these, or Flux refuses what it is about', () => {
  const files = ['kustomize', 'flux', 'kube/yaml'].flatMap(part => {
    const folder = new URL(`../../src/${part}/`, import.meta.url)
    const names = readdirSync(folder, { recursive: true }).map(String)
    return names.filter(name => name.endsWith('.ts')).map(name => readFileSync(new URL(name, folder), 'utf8'))
  })
  const named = files.flatMap(text => [...text.matchAll(/\brule: '([a-z-]+)'/g)].map(([, rule]) => rule!))
  expect([...new Set(named)].sort()).toEqual([...Object.keys(LEFT_OUT), ...REFUSED].sort())
})

test.for([
  ['kustomize-symlink', { 'deploy/kustomization.yaml': 'resources: [web.yaml, ../gone/link.yaml]\n' }],
  ['kustomize-path-escape', { 'deploy/kustomization.yaml': 'resources: [web.yaml, ../../x.yaml]\n' }],
  ['kustomize-helm-inflate', { 'deploy/kustomization.yaml': 'resources: [web.yaml]\nhelmCharts: [{name: x}]\n' }],
] as const)('what Flux refuses stays existing: nothing of it is applied (%s)', ([, files]) => {
  const { result } = judged(world(files, '  force: true\n'), world(files))
  expect(result).toBe('pass')
})
