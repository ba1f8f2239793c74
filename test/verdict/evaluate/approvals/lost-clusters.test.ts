import { expect, test } from 'vitest'
import { instanceText } from '../../../fleet/clusters/instance-text.ts'
import { configMap, syncText } from '../../../fleet/clusters/sync-text.ts'
import { evaluationOf, type Files, type Given } from '../../../fleet/fleet-of.ts'
import { FLEET_URL } from '../../../fleet/mini-fleet.ts'

const FILE = '.github/bailiwick.yaml'
const sync = (path: string, url = FLEET_URL) => syncText({ path: `./${path}`, url })
const kustomization = (name: string, path: string) =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec: {path: ./${path}, prune: true, interval: 5m, sourceRef: {kind: GitRepository, name: flux-system}}
`
/** A second cluster, which stays. */
const other: Files = { 'stays/flux-system/gotk-sync.yaml': sync('stays'), 'stays/a.yaml': configMap('stays') }
const hub: Files = { 'hub/flux-system/gotk-sync.yaml': sync('hub'), 'hub/a.yaml': configMap('a') }
const layout: Files = { 'clusters/x/a.yaml': configMap('a'), 'clusters/x/b.yaml': configMap('b') }
const instance: Files = {
  'flux/instance.yaml': instanceText({ path: 'operated', url: FLEET_URL }),
  'operated/a.yaml': configMap('a'),
}
const source = `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: ${FLEET_URL}, ref: {branch: main}, interval: 1m}
`
const assumed: Files = { 'deploy/a.yaml': kustomization('apps', 'apps') + source, 'apps/x.yaml': configMap('x') }
const declared: Files = { [FILE]: 'clusters: [{name: edge, path: edge}]\n', 'edge/a.yaml': configMap('a') }
const mirror = 'https://git.internal/acme/fleet'
const aliased: Files = {
  [FILE]: `aliases:\n  - {url: "${FLEET_URL}", addresses: ["${mirror}"]}\n`,
  'far/sub/own.yaml': syncText({ path: './far/sub', url: mirror, name: 'own' }),
  'far/sub/a.yaml': configMap('a'),
}
const mirrored: Files = {
  [FILE]: aliased[FILE]!,
  'far/flux-system/gotk-sync.yaml': sync('far', mirror),
  'far/a.yaml': configMap('a'),
}

const without = (files: Files, ...starts: string[]): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !starts.some(start => path.startsWith(start))))
const given = (...files: Files[]): Given => ({ fleet: Object.assign({}, ...files) })
const approvals = (head: Given, base: Given) =>
  evaluationOf(head, { base }).verdict.requiredApprovals.map(({ rule, message }) => `${rule} ${message}`)

const GONE = 'it would no longer be evaluated'
/** What happens, the files before and after, and what a fleet admin must approve. */
const cases: readonly [what: string, before: Files, after: Files, cluster: string, text: string][] = [
  ['its sync is removed', hub, without(hub, 'hub/flux-system'), 'hub', GONE],
  ['its sync is no YAML', hub, { ...hub, 'hub/flux-system/gotk-sync.yaml': ': no yaml' }, 'hub', GONE],
  ['its folder is removed', hub, {}, 'hub', GONE],
  ['its sync leads elsewhere', hub, { ...hub, 'hub/flux-system/gotk-sync.yaml': sync('stays/sub') }, 'hub', GONE],
  [
    'it is moved aside',
    hub,
    { '_old/hub/flux-system/gotk-sync.yaml': sync('_old/hub'), '_old/hub/a.yaml': configMap('a') },
    'hub',
    GONE,
  ],
  [
    'it is moved, and keeps its name',
    hub,
    { 'kubernetes/hub/flux-system/gotk-sync.yaml': sync('kubernetes/hub'), 'kubernetes/hub/a.yaml': configMap('a') },
    'hub',
    'it would start from "kubernetes/hub", not from "hub" as before',
  ],
  [
    'another cluster takes its name',
    { 'k8s/prod/00/flux-system/gotk-sync.yaml': sync('k8s/prod/00'), 'k8s/prod/00/a.yaml': configMap('a') },
    {
      'k8s/prod/00/flux-system/gotk-sync.yaml': sync('k8s/prod/00'),
      'k8s/prod/00/a.yaml': configMap('a'),
      'clusters/prod-00/a.yaml': configMap('a'),
    },
    'prod-00',
    'it would start from "clusters/prod-00", not from "k8s/prod/00" as before',
  ],
  ['its FluxInstance is removed', instance, without(instance, 'flux/'), 'operated', GONE],
  [
    'its FluxInstance leads elsewhere',
    instance,
    { ...instance, 'flux/instance.yaml': instanceText({ path: 'stays', url: FLEET_URL }) },
    'operated',
    GONE,
  ],
  [
    'another cluster applies its folder',
    layout,
    { ...layout, 'stays/x.yaml': kustomization('x', 'clusters/x') },
    'x',
    GONE,
  ],
  [
    'its folder holds folders of clusters only',
    { 'clusters/x/kustomization.yaml': 'resources: [y/a.yaml]\n', 'clusters/x/y/a.yaml': configMap('a') },
    { 'clusters/x/y/a.yaml': configMap('a'), 'clusters/x/y/flux-system/gotk-sync.yaml': sync('clusters/x/y') },
    'x',
    GONE,
  ],
  ['its folder of the layout is renamed', layout, { 'clusters/y/a.yaml': configMap('a') }, 'x', GONE],
  [
    'a hub makes it one of its Kustomizations',
    { ...hub, 'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub', url: FLEET_URL, name: 'own' }) },
    {
      ...hub,
      'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub', url: FLEET_URL, name: 'own' }),
      'stays/own.yaml': kustomization('own', 'hub'),
    },
    'hub',
    GONE,
  ],
]

test.each(cases)(
  'a cluster that is not evaluated any more asks for an approval: %s',
  (_what, before, after, name, text) => {
    const found = approvals(given(other, after), given(other, before))
    expect(found).toContainEqual(expect.stringContaining(`tenant-removed cluster ${name}: ${text}`))
    expect(evaluationOf(given(other, after), { base: given(other, before) }).verdict.summary).toContain(
      `A fleet admin must approve the change: cluster ${name}: `,
    )
  },
)

test('assumed clusters: where something else is found, and where nothing says so any more', () => {
  const found = { 'hub/flux-system/gotk-sync.yaml': sync('hub'), 'hub/a.yaml': configMap('a') }
  const lost = expect.stringContaining(`cluster deploy: ${GONE}`)
  expect(approvals(given(assumed, found), given(assumed))).toContainEqual(lost)
  expect(approvals(given(assumed, { 'deploy/a.yaml': configMap('y') }), given(assumed))).toContainEqual(lost)
  expect(approvals(given(assumed, { 'apps/x.yaml': configMap('y') }), given(assumed))).toEqual([])
})

test.each([
  ['a declared cluster', declared, '# nothing\n', 'edge'],
  ['the address of its sync', aliased, '# nothing\n', 'far-sub'],
  ['the address of what bootstrap wrote', mirrored, '# nothing\n', 'far'],
])('the fleet’s own file no longer names %s: the cluster is named beside the file', (_what, before, file, name) => {
  const found = approvals(given(other, before, { [FILE]: file }), given(other, before))
  expect(found).toContain(`gate-config-change This changes ${FILE}, which configures what Bailiwick allows`)
  expect(found).toContainEqual(expect.stringContaining(`cluster ${name}: ${GONE}`))
  // the same again, once it is merged
  const merged = given(other, before, { [FILE]: file })
  expect(approvals(merged, merged)).toEqual([])
})

test.each<[string, Files, Files]>([
  ['its content', hub, { ...hub, 'hub/a.yaml': configMap('b') }],
  ['the file of its sync', hub, { ...without(hub, 'hub/flux-system'), 'hub/sync.yaml': sync('hub') }],
  [
    'a sync in a folder of the layout',
    layout,
    { ...layout, 'clusters/x/flux-system/gotk-sync.yaml': sync('clusters/x') },
  ],
  [
    'none in a folder of the layout',
    { ...layout, 'clusters/x/flux-system/gotk-sync.yaml': sync('clusters/x') },
    layout,
  ],
  [
    'an assumed cluster that is bootstrapped',
    assumed,
    { ...assumed, 'deploy/flux-system/gotk-sync.yaml': sync('deploy') },
  ],
  ['what is declared by name, found as the same', declared, { ...declared, 'edge/b.yaml': configMap('b') }],
])('a cluster that is still evaluated asks nobody: %s', (_what, before, after) => {
  expect(approvals(given(after), given(before))).toEqual([])
})

test('the fleet’s own file names a cluster that is found anyway, or follows something else with a declared one', () => {
  const named = { [FILE]: 'clusters: [{name: hub, path: hub}]\n' }
  expect(approvals(given(hub, named), given(hub)).filter(one => !one.startsWith('gate-'))).toEqual([])
  const by = (branch: string) => ({
    [FILE]: `clusters: [{name: edge, path: edge, source: {url: "${FLEET_URL}", ref: {branch: ${branch}}}}]\n`,
    'edge/a.yaml': configMap('a'),
  })
  expect(approvals(given(other, by('prod')), given(other, by('main')))).toContainEqual(
    expect.stringContaining(`cluster edge: ${GONE}`),
  )
})
