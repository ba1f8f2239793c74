// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import fc from 'fast-check'
import { CLUSTERS, committed, object, overlay, TENANTS, type World } from './random-world.ts'

/** What somebody does to a world: a kind of edit, and numbers that decide about the rest of it. */
export interface Edit {
  readonly name: keyof typeof EDITS
  readonly tenant: number
  readonly cluster: number
  readonly dice: number
}

type Files = Map<string, string>
type Pick = { readonly tenant: string; readonly other: string; readonly cluster: string; readonly dice: number }

/** A random edit; what it does follows from it alone. */
export const anyEdit = (): fc.Arbitrary<Edit> =>
  fc.record({
    name: fc.constantFrom(...(Object.keys(EDITS) as (keyof typeof EDITS)[])),
    tenant: fc.nat(TENANTS.length - 1),
    cluster: fc.nat(CLUSTERS.length - 1),
    dice: fc.nat(11),
  })

/** The world after an edit. */
export function edited(world: World, { name, tenant, cluster, dice }: Edit): World {
  const pick = {
    tenant: TENANTS[tenant]!,
    other: TENANTS[(tenant + 1) % TENANTS.length]!,
    cluster: CLUSTERS[cluster]!,
    dice,
  }
  return EDITS[name](world, pick)
}

const inTenant =
  (edit: (files: Files, pick: Pick) => void) =>
  (world: World, pick: Pick): World => {
    const files = new Map(world.tenants.get(pick.tenant))
    edit(files, pick)
    return committed({ ...world, tenants: new Map([...world.tenants, [pick.tenant, files]]) }, pick.tenant)
  }

const inFleet =
  (edit: (files: Files, pick: Pick) => void) =>
  (world: World, pick: Pick): World => {
    const fleet = new Map(world.fleet)
    edit(fleet, pick)
    return committed({ ...world, fleet }, '')
  }

const change = (files: Files, path: string, edit: (text: string) => string) => {
  const text = files.get(path)
  if (text !== undefined) files.set(path, edit(text))
}

/** Puts a resource beside the others of a tenant, in the place of what was there. */
const put = (of: (pick: Pick) => string) =>
  inTenant((files, pick) => {
    files.set('deploy/settings.yaml', of(pick))
  })

const RBAC = 'rbac.authorization.k8s.io/v1'
const GROUP = 'apiGroup: rbac.authorization.k8s.io'
const reference = (kind: string, name: string, namespace: string) =>
  `{kind: ${kind}, name: ${name}, namespace: ${namespace}}`

/** Objects that a rule, or the graph, has an eye on. */
const OBJECTS: readonly ((pick: Pick) => string)[] = [
  ({ dice }) => object('v1', 'ConfigMap', 'settings', '', `data: {level: "${dice}"}\n`),
  ({ other }) => object('v1', 'ConfigMap', 'foreign', other, 'data: {}\n'),
  () => object('v1', 'Secret', 'plain', '', 'stringData: {password: abc}\n'),
  () => object('v1', 'ServiceAccount', 'default', ''),
  ({ tenant }) =>
    object(
      RBAC,
      'RoleBinding',
      'more',
      '',
      `roleRef: {${GROUP}, kind: ClusterRole, name: view}\nsubjects: [${reference('ServiceAccount', tenant, tenant)}]\n`,
    ),
  ({ other }) =>
    object(
      RBAC,
      'RoleBinding',
      'more',
      '',
      `roleRef: {${GROUP}, kind: ClusterRole, name: edit}\nsubjects: [${reference('ServiceAccount', other, other)}]\n`,
    ),
  () => object(RBAC, 'ClusterRole', 'mine', '', 'rules: [{apiGroups: [""], resources: [secrets], verbs: ["*"]}]\n'),
  () => object('networking.k8s.io/v1', 'Ingress', 'web', '', 'spec: {rules: [{host: shop.example}]}\n'),
  ({ tenant }) => object('v1', 'Namespace', `${tenant}-more`, ''),
  ({ other }) => object('v1', 'Namespace', other, ''),
  ({ dice }) =>
    object(
      'source.toolkit.fluxcd.io/v1',
      'HelmRepository',
      'charts',
      '',
      `spec: {interval: ${dice}m, url: "https://charts.example"}\n`,
    ),
  ({ other }) =>
    object(
      'helm.toolkit.fluxcd.io/v2',
      'HelmRelease',
      'cache',
      '',
      `spec: {interval: 5m, chart: {spec: {chart: c, sourceRef: ${reference('HelmRepository', 'charts', other)}}}}\n`,
    ),
  ({ tenant }) =>
    object(
      'kustomize.toolkit.fluxcd.io/v1',
      'Kustomization',
      'child',
      '',
      `spec: {interval: 5m, prune: true, path: ./more, sourceRef: ${reference('GitRepository', tenant, tenant)}}\n`,
    ),
  ({ tenant }) =>
    object(
      'kustomize.toolkit.fluxcd.io/v1',
      'Kustomization',
      'child',
      '',
      `spec: {interval: 5m, prune: true, path: ./more, serviceAccountName: ${tenant}, dependsOn: [{name: gone}], postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}, sourceRef: ${reference('GitRepository', tenant, tenant)}}\n`,
    ),
  ({ other }) =>
    object(
      'source.toolkit.fluxcd.io/v1',
      'GitRepository',
      'theirs',
      '',
      `spec: {interval: 1m, url: "https://github.com/acme/${other}", ref: {branch: main}}\n`,
    ),
  ({ tenant }) =>
    object(
      'helm.toolkit.fluxcd.io/v2',
      'HelmRelease',
      'shop',
      '',
      `spec: {interval: 5m, serviceAccountName: ${tenant}, chart: {spec: {chart: shop, sourceRef: ${reference('GitRepository', tenant, tenant)}}}}\n`,
    ),
  ({ tenant, other }) =>
    object(
      'fluxcd.controlplane.io/v1',
      'ResourceSet',
      'made',
      '',
      `spec: {serviceAccountName: ${tenant}, resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: ${other}}}, {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: made}, spec: {chart: {spec: {chart: shop, sourceRef: ${reference('GitRepository', tenant, tenant)}}}}}]}\n`,
    ),
  () => object('example.org/v1', 'Widget', 'w', '', 'spec: {}\n'),
]

const EDITS = {
  value: inTenant((files, { dice }) =>
    change(files, 'deploy/app.yaml', text => text.replace(/port: \d+/, `port: ${80 + dice}`)),
  ),
  object: (world: World, pick: Pick) =>
    put(OBJECTS[(pick.dice * 5 + pick.tenant.length) % OBJECTS.length]!)(world, pick),
  another: (world: World, pick: Pick) => put(OBJECTS[(pick.dice + 5) % OBJECTS.length]!)(world, pick),
  lines: inTenant((files, { dice }) =>
    change(files, 'deploy/settings.yaml', text => `${'# more\n'.repeat(1 + (dice % 3))}${text}`),
  ),
  chart: inTenant((files, { dice }) => files.set('shop/values.yaml', `${dice}\n`)),
  note: inTenant((files, { dice }) => files.set('README.md', `${dice}\n`)),
  break: inTenant(files => change(files, 'deploy/app.yaml', text => `${text}broken: [\n`)),
  mend: inTenant(files => change(files, 'deploy/app.yaml', text => text.replace('broken: [\n', ''))),
  move: inTenant(files => {
    const text = files.get('deploy/settings.yaml')
    if (text === undefined) return
    files.delete('deploy/settings.yaml')
    files.set('deploy/moved.yaml', text)
    change(files, 'deploy/kustomization.yaml', all => all.replace('settings.yaml', 'moved.yaml'))
  }),
  substituted: inTenant((files, { dice }) =>
    change(files, 'more/one.yaml', text =>
      text.replace(
        /data: .*/,
        ['data: {level: "${level}"}', 'data: {}', 'data: {region: "${region:=none}"}'][dice % 3]!,
      ),
    ),
  ),
  own: inTenant((files, { dice }) => {
    if (dice < 4) files.delete('.github/bailiwick.yaml')
    else files.set('.github/bailiwick.yaml', ['profile: restricted\n', 'enforcement: block\n', 'no: [\n'][dice % 3]!)
  }),
  ignore: inTenant((files, { dice }) => {
    if (dice < 6) files.set('.sourceignore', ['more\n', 'README.md\n', 'deploy/settings.yaml\n'][dice % 3]!)
    else files.delete('.sourceignore')
  }),
  members: inFleet((files, { cluster, dice }) =>
    files.set(`tenants/${cluster}/kustomization.yaml`, overlay(TENANTS.slice(dice % 2, 1 + (dice % 3)))),
  ),
  label: inFleet((files, { tenant, other, dice }) =>
    change(files, `tenants/base/${tenant}/rbac.yaml`, text =>
      text.replace(
        /labels: \{.*\}/,
        `labels: {${['', `toolkit.fluxcd.io/tenant: ${other}`, `toolkit.fluxcd.io/tenant: ${tenant}`][dice % 3]}}`,
      ),
    ),
  ),
  account: inFleet((files, { tenant, dice }) =>
    change(files, `tenants/base/${tenant}/sync.yaml`, text =>
      text.replace(/serviceAccountName: [\w-]*/, `serviceAccountName: ${dice % 2 ? tenant : 'default'}`),
    ),
  ),
  path: inFleet((files, { tenant, dice }) =>
    change(files, `tenants/base/${tenant}/sync.yaml`, text =>
      text.replace(/path: \.\/\w+/, `path: ./${['deploy', 'more', 'gone'][dice % 3]}`),
    ),
  ),
  source: inFleet((files, { tenant, other, dice }) =>
    change(files, `tenants/base/${tenant}/sync.yaml`, text =>
      text.replace(/url: \S+?,/, `url: https://github.com/acme/${dice % 3 ? tenant : other},`),
    ),
  ),
  sparse: inFleet((files, { tenant, dice }) =>
    change(files, `tenants/base/${tenant}/sync.yaml`, text =>
      text.replace(
        /ref: \{branch: main\}.*/,
        `ref: {branch: main}${['', ', sparseCheckout: [deploy]', ', ignore: "more"'][dice % 3]}}`,
      ),
    ),
  ),
  text: inFleet((files, { dice }) => files.set('README.md', `${dice}\n`)),
  quota: inFleet((files, { dice }) => {
    change(files, 'vars/kustomization.yaml', () => 'resources: [vars.yaml, quota.yaml]\n')
    files.set(
      'vars/quota.yaml',
      object('v1', 'ResourceQuota', 'quota', 'flux-system', `spec: {hard: {pods: "${dice}"}}\n`),
    )
  }),
  delegate: inFleet((files, { other, dice }) => {
    const [bert, cleo] = [TENANTS[1]!, TENANTS[2]!]
    const bound = [[bert], [other], [bert, cleo], [bert, 'flux-system']][dice % 4]!
    change(files, 'vars/kustomization.yaml', () => 'resources: [vars.yaml, delegate.yaml]\n')
    const follow = reference('GitRepository', 'delegate', 'flux-system')
    const grants = bound.map(namespace =>
      object(
        RBAC,
        'RoleBinding',
        'delegate',
        namespace,
        `roleRef: {${GROUP}, kind: ClusterRole, name: ${dice < 8 ? 'edit' : 'view'}}\nsubjects: [${reference('ServiceAccount', 'delegate', 'flux-system')}]\n`,
      ),
    )
    const source = `spec: {interval: 1m, url: "https://github.com/acme/${bert}", ref: {branch: main}}\n`
    const spec = `spec: {interval: 5m, prune: true, path: ./more, serviceAccountName: delegate, sourceRef: ${follow}}\n`
    files.set(
      'vars/delegate.yaml',
      [
        object('source.toolkit.fluxcd.io/v1', 'GitRepository', 'delegate', 'flux-system', source),
        object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'delegate', 'flux-system', spec),
        ...grants,
      ].join('---\n'),
    )
  }),
  unbootstrap: inFleet((files, { cluster, dice }) => {
    if (dice < 9) return
    files.delete(`clusters/${cluster}/flux-system/sync.yaml`)
    change(files, `clusters/${cluster}/flux-system/kustomization.yaml`, text => text.replace(', sync.yaml', ''))
  }),
  values: inFleet((files, { dice }) =>
    change(files, 'vars/vars.yaml', text => text.replace(/region: \w+/, `region: r${dice}`)),
  ),
  substitute: inFleet((files, { cluster, dice }) =>
    change(files, `clusters/${cluster}/tenants.yaml`, text =>
      text.replace(
        /interval: 5m.*?prune/,
        `interval: 5m, ${dice % 2 ? 'postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, ' : ''}prune`,
      ),
    ),
  ),
  lockdown: inFleet((files, { cluster, dice }) =>
    change(files, `clusters/${cluster}/flux-system/kustomization.yaml`, text =>
      text.replace(/refs=\w+/, `refs=${dice % 2 === 0}`),
    ),
  ),
  config: inFleet((files, { tenant, dice }) => {
    const texts = [
      'profile: baseline\n',
      `tenants:\n- name: ${tenant}\n  profile: baseline\n`,
      'severities: {plaintext-secret: warning}\n',
      'unknown: 1\n',
    ]
    if (dice < 4) files.delete('.github/bailiwick.yaml')
    else files.set('.github/bailiwick.yaml', texts[dice % texts.length]!)
  }),
  grant: inFleet((files, { tenant, dice }) =>
    change(files, `tenants/base/${tenant}/rbac.yaml`, text =>
      text.replace(/name: (?:cluster-admin|edit)/, `name: ${dice % 2 ? 'edit' : 'cluster-admin'}`),
    ),
  ),
  empty: (world: World, { tenant }: Pick): World => committed(world, tenant),
  readable: (world: World, { tenant, dice }: Pick): World => {
    const unreadable = new Set(world.unreadable)
    if (dice % 2) unreadable.add(tenant)
    else unreadable.delete(tenant)
    return { ...world, unreadable }
  },
}
