// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import type { FleetInput, OpaqueSource } from '../../../../src/fleet/model/input.ts'
import { treeOf } from '../../../base/git/tree-of.ts'

type Files = Map<string, string>

/** A fleet of some tenants as files by path: immutable, every edit gives another one. */
export interface World {
  readonly fleet: ReadonlyMap<string, string>
  readonly tenants: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Tenants whose repositories nobody can read. */
  readonly unreadable: ReadonlySet<string>
  /** How often each repository was committed to; '' is the fleet's own. */
  readonly commits: ReadonlyMap<string, number>
}

export const TENANTS = ['anna', 'bert', 'cleo']
export const CLUSTERS = ['one', 'two']
const FLEET = 'https://github.com/acme/fleet'

/** Where every random history begins. */
export function firstWorld(): World {
  const tenants = TENANTS.slice(0, 2)
  const fleet: Files = new Map([
    ['README.md', 'A fleet.\n'],
    ['vars/kustomization.yaml', 'resources: [vars.yaml]\n'],
    ['vars/vars.yaml', object('v1', 'ConfigMap', 'vars', 'flux-system', 'data: {region: north, stage: prod}\n')],
  ])
  for (const tenant of TENANTS) {
    fleet.set(`tenants/base/${tenant}/kustomization.yaml`, `namespace: ${tenant}\nresources: [rbac.yaml, sync.yaml]\n`)
    fleet.set(`tenants/base/${tenant}/rbac.yaml`, rbac(tenant))
    fleet.set(`tenants/base/${tenant}/sync.yaml`, sync(tenant))
  }
  for (const cluster of CLUSTERS) {
    fleet.set(`clusters/${cluster}/flux-system/kustomization.yaml`, LOCKDOWN)
    fleet.set(`clusters/${cluster}/flux-system/components.yaml`, COMPONENTS)
    const values = cluster === 'one' ? 'postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, ' : ''
    fleet.set(`clusters/${cluster}/tenants.yaml`, kustomization('tenants', `./tenants/${cluster}`, values))
    fleet.set(`clusters/${cluster}/flux-system/sync.yaml`, bootstrap(cluster))
    fleet.set(`clusters/${cluster}/vars.yaml`, kustomization('vars', './vars'))
    fleet.set(`tenants/${cluster}/kustomization.yaml`, overlay(tenants))
  }
  return {
    fleet,
    tenants: new Map(TENANTS.map(tenant => [tenant, tenantFiles(tenant)])),
    unreadable: new Set(),
    commits: new Map(),
  }
}

/** What evaluates the world. */
export function inputOf(world: World, config?: World): FleetInput {
  const commitOf = (name: string) => String(world.commits.get(name) ?? 1).padStart(40, '0')
  const opaque: OpaqueSource[] = []
  const sources = [...world.tenants].flatMap(([tenant, files]) => {
    const [url, ref, commit] = [addressOf(tenant), { branch: 'main' }, commitOf(tenant)]
    if (!world.unreadable.has(tenant)) return [{ url, ref, commit, tree: treeOf(Object.fromEntries(files)) }]
    opaque.push({ url, ref, reason: 'nobody may read it' })
    return []
  })
  return {
    fleet: { url: FLEET, branch: 'main', commit: commitOf(''), tree: treeOf(Object.fromEntries(world.fleet)) },
    sources,
    opaque,
    ...(config ? { config: treeOf(Object.fromEntries(config.fleet)) } : {}),
  }
}

/** The world with one more commit to a repository. */
export function committed(world: World, repository: string): World {
  return { ...world, commits: new Map([...world.commits, [repository, (world.commits.get(repository) ?? 1) + 1]]) }
}

/** The overlay of a cluster that holds these tenants. */
export const overlay = (tenants: readonly string[]): string =>
  `resources:\n${tenants.map(tenant => `- ../base/${tenant}\n`).join('')}`

const addressOf = (tenant: string) => `https://github.com/acme/${tenant}`

export const object = (apiVersion: string, kind: string, name: string, namespace: string, rest = ''): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n${namespace === '' ? '' : `  namespace: ${namespace}\n`}${rest}`

const kustomization = (name: string, path: string, more = ''): string =>
  object(
    'kustomize.toolkit.fluxcd.io/v1',
    'Kustomization',
    name,
    'flux-system',
    `spec: {interval: 5m, ${more}prune: true, path: ${path}, sourceRef: {kind: GitRepository, name: flux-system}}\n`,
  )

const rbac = (tenant: string): string =>
  [
    `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${tenant}\n  labels: {toolkit.fluxcd.io/tenant: ${tenant}}\n`,
    object('v1', 'ServiceAccount', tenant, tenant),
    object('v1', 'ConfigMap', 'place', tenant, 'data: {region: "${region:=none}"}\n'),
    object(
      'rbac.authorization.k8s.io/v1',
      'RoleBinding',
      'reconciler',
      tenant,
      `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: ServiceAccount, name: ${tenant}, namespace: ${tenant}}]\n`,
    ),
  ].join('---\n')

const sync = (tenant: string): string =>
  [
    object(
      'source.toolkit.fluxcd.io/v1',
      'GitRepository',
      tenant,
      tenant,
      `spec: {interval: 1m, url: ${addressOf(tenant)}, ref: {branch: main}}\n`,
    ),
    object(
      'kustomize.toolkit.fluxcd.io/v1',
      'Kustomization',
      tenant,
      tenant,
      `spec: {interval: 5m, prune: true, path: ./deploy, serviceAccountName: ${tenant}, sourceRef: {kind: GitRepository, name: ${tenant}}}\n`,
    ),
  ].join('---\n')

/** What a tenant deploys by itself, with values of its own. */
const child = (tenant: string): string =>
  object(
    'kustomize.toolkit.fluxcd.io/v1',
    'Kustomization',
    'more',
    tenant,
    `spec: {interval: 5m, prune: true, path: ./more, serviceAccountName: ${tenant}, postBuild: {substituteFrom: [{kind: ConfigMap, name: settings, optional: true}]}, sourceRef: {kind: GitRepository, name: ${tenant}}}\n`,
  )

function tenantFiles(tenant: string): Files {
  return new Map([
    ['README.md', `Of ${tenant}.\n`],
    ['deploy/kustomization.yaml', `namespace: ${tenant}\nresources: [app.yaml, settings.yaml, child.yaml]\n`],
    ['deploy/child.yaml', tenant === TENANTS[0] ? child(tenant) : '# nothing\n'],
    ['deploy/app.yaml', object('v1', 'Service', 'web', '', 'spec: {selector: {app: web}, ports: [{port: 80}]}\n')],
    ['deploy/settings.yaml', object('v1', 'ConfigMap', 'settings', '', 'data: {level: info}\n')],
    ['more/one.yaml', object('v1', 'ConfigMap', 'more', tenant, 'data: {level: "${level:=low}"}\n')],
  ])
}

const bootstrap = (cluster: string): string =>
  [
    object(
      'source.toolkit.fluxcd.io/v1',
      'GitRepository',
      'flux-system',
      'flux-system',
      `spec: {interval: 1m, url: ${FLEET}, ref: {branch: main}}\n`,
    ),
    kustomization('flux-system', `./clusters/${cluster}`),
  ].join('---\n')

const COMPONENTS = ['kustomize', 'helm']
  .map(name =>
    object(
      'apps/v1',
      'Deployment',
      `${name}-controller`,
      'flux-system',
      `spec: {selector: {matchLabels: {app: ${name}}}, template: {metadata: {labels: {app: ${name}}}, spec: {containers: [{name: manager, image: i, args: [--log-level=info]}]}}}\n`,
    ),
  )
  .join('---\n')

const LOCKDOWN = `resources: [components.yaml, sync.yaml]
patches:
- target: {kind: Deployment}
  patch: |
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --no-cross-namespace-refs=true}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --no-remote-bases=true}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --default-service-account=default}
`
