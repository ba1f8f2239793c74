import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import type { FleetInput } from '../../src/fleet/model/input.ts'
import { evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import { type Files, inputOf } from '../fleet/fleet-of.ts'
import { devFiles, fleetFiles, miniFleet } from '../fleet/mini-fleet.ts'

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`
const extra = (text: string) => ({
  'deploy/kustomization.yaml': 'resources: [web.yaml, extra.yaml]\n',
  'deploy/extra.yaml': text,
})
const configMap = (fields: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps}\n${fields}`

/** What a rule leaves out of a tenant's build and Flux applies, and the same with other bytes. */
const LEFT_OUT: Readonly<Record<string, { files: Files; others: Files }>> = {
  'yaml-ambiguous': { files: extra(configMap('data: {a: !foo x}\n')), others: extra(configMap('data: {a: !foo y}\n')) },
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

function evaluated(head: FleetInput, base: FleetInput) {
  const { verdict } = evaluateFleet(buildFleet({ ...head, config: base.fleet.tree }), {
    revisionSet: 'c',
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

const SYNC = 'clusters/staging/flux-system/gotk-sync.yaml'
const LOCKDOWN = 'clusters/staging/flux-system/kustomization.yaml'
const ABOVE = 'clusters/staging/tenants.yaml'
interface HeldFleet {
  readonly edit?: Readonly<Record<string, (text: string) => string>>
}
const suspended = (text: string) => text.replace(/(kind: Kustomization\n[\s\S]*?\nspec:\n)/, '$1  suspend: true\n')
const marked = (text: string) =>
  text.replace(
    /(kind: Kustomization\nmetadata:\n)/,
    '$1  annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}\n',
  )

/** What keeps what git says of dev-team's Kustomization from its cluster. */
const HELD: Readonly<Record<string, HeldFleet>> = {
  'below a node that is suspended': { edit: { [ABOVE]: suspended } },
  'below a root that is suspended': { edit: { [SYNC]: suspended } },
  'below a node that is left alone': { edit: { [ABOVE]: marked } },
  'left alone': { edit: { [OF_DEV]: marked } },
}

function heldWorld(files: Files, { edit = {} }: HeldFleet): FleetInput {
  const fleet = Object.fromEntries(
    Object.entries(edit).map(([path, change]) => {
      expect(change(fleetFiles[path]!)).not.toBe(fleetFiles[path])
      return [path, change(fleetFiles[path]!)]
    }),
  )
  return inputOf(miniFleet({ fleet, dev: { ...devFiles, ...files } }))
}

const part = {
  'part/kustomization.yaml': 'kind: Component\nresources: [a.yaml]\n',
  'part/a.yaml': configMap('').replace('x,', 'y,'),
}

describe.for(Object.entries(LEFT_OUT))('%s: bytes that nobody has read', ([rule, { files, others }]) => {
  const all = { ...part, ...files }
  const about = (head: FleetInput, base: FleetInput) =>
    evaluated(head, base).violations.filter(one => one.rule === rule && one.hides !== undefined)

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
  const errors = (head: FleetInput, base: FleetInput) => evaluated(head, base).errors

  test.for(Object.entries(ANEW))('is an error again %s', ([name, { spec, base, edit }]) => {
    const [one] = errors(world(files, spec, edit), world(files, base))
    expect(one).toMatchObject({ code: 'kustomize-unsupported', state: 'new' })
    if (name === 'unsuspended') expect(one!.message).toContain('is applied anew: in another place or form')
  })
  test.for(Object.entries(SAME))('is existing %s', ([, { spec, base, edit }]) => {
    expect(errors(world(files, spec, edit), world(files, base)).map(({ state }) => state)).toEqual(['standing'])
  })

  /** States of the error after a change of what applies dev-team's Kustomization, or of that itself. */
  const states = (head: HeldFleet, base: HeldFleet) =>
    errors(heldWorld(files, head), heldWorld(files, base)).map(({ state }) => state)
  test.for(Object.entries(HELD))('is an error again where it is no longer %s', ([, held]) => {
    expect(states({}, held)).toEqual(['new'])
  })
  test.for(Object.entries(HELD))('is existing where it is, or is now %s', ([, held]) => {
    expect(states(held, held)).toEqual(['standing'])
    expect(states(held, {})).toEqual(['standing'])
  })
  test('is existing where what the root says of itself changes', () => {
    const own = { edit: { [SYNC]: marked } }
    expect(states({}, own)).toEqual(['standing'])
    expect(states(own, {})).toEqual(['standing'])
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
    evaluated(world(values(head), spec), world(values(base), spec)).violations.map(({ rule, state }) => [rule, state])
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
    return evaluated(now!, before!).requiredApprovals.map(({ path }) => path)
  }
  expect(asked('', '  suspend: true\n')).toEqual(['addons/kustomization.yaml'])
  expect(asked('  suspend: true\n', '')).toEqual([])
  expect(asked('  force: true\n', '')).toEqual(['addons/kustomization.yaml'])
  expect(asked('  timeout: 1m\n', '')).toEqual([])
})

describe('what is not evaluated of the platform passes with an approval where it is no longer held', () => {
  const node = (name: string, spec = '') =>
    fleetFiles[ABOVE]!.replaceAll('tenants', name).replace('  prune: true\n', `  prune: true\n${spec}`)
  /** A node below another one, and what there is no evaluating in it. */
  const below = (spec: string, own: string, kustomization: string): FleetInput =>
    inputOf(
      miniFleet({
        fleet: {
          [LOCKDOWN]: fleetFiles[LOCKDOWN]!.replace('--no-remote-bases', '--no-remote-bases=false'),
          'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, above.yaml]\n',
          'clusters/staging/above.yaml': node('above', spec),
          'above/kustomization.yaml': 'resources: [addons.yaml]\n',
          'above/addons.yaml': node('addons', own),
          'addons/kustomization.yaml': kustomization,
          'addons/c.yaml': configMap(''),
        },
      }),
    )
  test.for([
    ['a hole', 'resources: [c.yaml]\nvars: [{name: A, objref: {apiVersion: v1, kind: ConfigMap, name: x}}]\n'],
    ['a remote file', 'resources: [c.yaml, "https://example.com/a.yaml"]\n'],
  ])('%s', ([, text]) => {
    const asked = (head: [string, string], base: [string, string]) =>
      evaluated(below(...head, text!), below(...base, text!)).requiredApprovals.map(({ path }) => path)
    const stop = '  suspend: true\n'
    expect(asked(['', ''], [stop, ''])).toEqual(['addons/kustomization.yaml'])
    expect(asked(['', ''], [stop, stop])).toEqual(['addons/kustomization.yaml'])
    // what is held, or is from now on, applies nothing else than before
    expect(asked([stop, ''], [stop, ''])).toEqual([])
    expect(asked([stop, ''], ['', ''])).toEqual([])
    expect(asked(['', ''], ['', ''])).toEqual([])
    // what a node that is held says of itself does not reach the cluster, so nothing is stopped by it
    expect(asked([stop, stop], [stop, ''])).toEqual([])
  })

  test('a new remote file, though git suspends the node that is held', () => {
    const [stop, text] = ['  suspend: true\n', 'resources: [c.yaml]\n']
    const more = text.replace('c.yaml', 'c.yaml, "https://example.com/b.yaml"')
    const { requiredApprovals } = evaluated(below(stop, stop, more), below(stop, stop, text))
    expect(requiredApprovals.map(({ path }) => path)).toEqual(['addons/kustomization.yaml'])
  })
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
  const { result } = evaluated(world(files, '  force: true\n'), world(files))
  expect(result).toBe('pass')
})
