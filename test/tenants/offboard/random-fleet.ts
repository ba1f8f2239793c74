import { apiVersionOf, GIT_REPOSITORY, KUSTOMIZATION } from '../../../src/kube/flux-kinds.ts'
import { createTenant, printManifests } from '../../../src/tenants/onboard/manifests.ts'

/** A fleet of several tenants, laid out as people lay fleets out; the same for the same seed. */
export interface RandomFleet {
  readonly layout: string
  readonly files: Readonly<Record<string, string>>
  readonly clusters: readonly string[]
  readonly tenants: readonly RandomTenant[]
}

export interface RandomTenant {
  readonly name: string
  readonly namespaces: readonly string[]
  readonly clusters: readonly string[]
}

export const FLEET_URL = 'https://github.com/acme/fleet'
export const LAYOUTS = ['overlay', 'file each', 'one file', 'plain', 'generated', 'component', 'per cluster'] as const

/** Numbers from 0 to below 1, the same for the same seed: https://en.wikipedia.org/wiki/Linear_congruential_generator */
export function randomOf(seed: number): () => number {
  let state = (seed * 2654435761 + 12345) >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** `prefix`: of the names of all tenants and their namespaces. */
export function randomFleet(seed: number, prefix = ''): RandomFleet {
  const random = randomOf(seed)
  const chance = (share: number) => random() < share
  const layout = LAYOUTS[seed % LAYOUTS.length]!
  const clusters = ['east', 'west', 'north'].slice(0, 1 + Math.floor(random() * 3))
  const tenants = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index): RandomTenant => {
    const name = `${prefix}team-${'abcd'[index]}`
    const namespaces = chance(0.3) ? [name, `${name}-more`] : [name]
    const own = clusters.filter(() => chance(0.7))
    return { name, namespaces, clusters: own.length > 0 ? own : [clusters[0]!] }
  })
  const files: Record<string, string> = {}
  for (const cluster of clusters) {
    files[`clusters/${cluster}/flux-system/gotk-sync.yaml`] = bootstrap(cluster)
    if (layout !== 'plain')
      files[`clusters/${cluster}/tenants.yaml`] = kustomization('tenants', 'flux-system', `./tenants/${cluster}`)
  }
  const parts = new Map(tenants.map(tenant => [tenant.name, tenantParts(tenant, chance)]))
  write(layout, files, clusters, tenants, parts, chance)
  return { layout, files, clusters, tenants }
}

interface Parts {
  readonly rbac: string
  readonly sync: string
  readonly more: string
}

function tenantParts({ name, namespaces }: RandomTenant, chance: (share: number) => boolean): Parts {
  const rbac = printManifests(createTenant({ name, namespaces, account: name, role: 'cluster-admin' }))
  const [namespace] = namespaces
  const second = chance(0.3) ? kustomization(`${name}-jobs`, namespace!, './jobs', name) : ''
  const limits = `---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: quota, namespace: ${namespace}}\nspec: {hard: {pods: "10"}}\n`
  return {
    rbac,
    sync: source(name, namespace!) + kustomization(name, namespace!, './', name) + second,
    more: chance(0.5) ? limits : '',
  }
}

function write(
  layout: (typeof LAYOUTS)[number],
  files: Record<string, string>,
  clusters: readonly string[],
  tenants: readonly RandomTenant[],
  parts: ReadonlyMap<string, Parts>,
  chance: (share: number) => boolean,
): void {
  const on = (cluster: string) => tenants.filter(tenant => tenant.clusters.includes(cluster))
  const all = ({ name }: RandomTenant) => {
    const { rbac, sync, more } = parts.get(name)!
    return rbac + sync + more
  }
  const list = (cluster: string, entries: readonly string[], patches: readonly string[] = [], key = 'resources') => {
    const items = (values: readonly string[]) => values.map(value => `  - ${value}\n`).join('')
    files[`tenants/${cluster}/kustomization.yaml`] =
      `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n${key}:\n${items(entries)}` +
      (patches.length > 0 ? `patches:\n${items(patches)}` : '')
  }
  if (layout === 'one file') files['tenants/all.yaml'] = tenants.map(all).join('')
  if (layout === 'file each') for (const tenant of tenants) files[`tenants/files/${tenant.name}.yaml`] = all(tenant)
  if (layout === 'overlay' || layout === 'component' || layout === 'generated') {
    for (const { name, namespaces } of tenants) {
      const { rbac, sync, more } = parts.get(name)!
      const own: Record<string, string> = {
        'rbac.yaml': rbac,
        'sync.yaml': sync,
        ...(more === '' ? {} : { 'more.yaml': more }),
      }
      for (const [file, text] of Object.entries(own)) files[`tenants/base/${name}/${file}`] = text
      const isComponent = layout === 'component'
      files[`tenants/base/${name}/kustomization.yaml`] =
        `apiVersion: kustomize.config.k8s.io/${isComponent ? 'v1alpha1' : 'v1beta1'}\nkind: ${isComponent ? 'Component' : 'Kustomization'}\nresources:\n` +
        Object.keys(own)
          .map(file => `  - ${file}\n`)
          .join('') +
        (layout === 'generated'
          ? `configMapGenerator:\n  - name: settings\n    namespace: ${namespaces[0]}\n    literals: [team=${name}]\n`
          : '')
    }
  }
  for (const cluster of clusters) {
    const here = on(cluster)
    if (layout === 'plain')
      for (const tenant of here) files[`clusters/${cluster}/tenants/${tenant.name}.yaml`] = all(tenant)
    if (layout === 'per cluster')
      for (const tenant of here) files[`tenants/${cluster}/${tenant.name}.yaml`] = all(tenant)
    if (layout === 'per cluster')
      list(cluster, here.length > 0 ? here.map(({ name }) => `${name}.yaml`) : ['none.yaml'])
    // a cluster that has no tenant yet has something of the platform
    if (layout !== 'plain')
      files[`tenants/${cluster}/none.yaml`] =
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tenants, namespace: flux-system}\n`
    if (layout === 'one file') list(cluster, ['../all.yaml', 'none.yaml'])
    if (layout === 'file each') list(cluster, ['none.yaml', ...here.map(({ name }) => `../files/${name}.yaml`)])
    if (layout === 'overlay' || layout === 'generated') {
      const patched = here.filter(() => chance(0.5))
      for (const { name, namespaces } of patched)
        files[`tenants/${cluster}/${name}-patch.yaml`] = pathPatch(name, namespaces[0]!, cluster)
      const inline = here.filter(one => !patched.includes(one) && chance(0.5))
      list(
        cluster,
        ['none.yaml', ...here.map(({ name }) => `../base/${name}`)],
        [
          ...patched.map(({ name }) => `path: ${name}-patch.yaml`),
          ...inline.map(
            ({ name }) =>
              `target: {kind: Kustomization, name: ${name}}\n    patch: |\n      - {op: replace, path: /spec/path, value: ./${cluster}}`,
          ),
        ],
      )
    }
    if (layout === 'component') {
      files[`tenants/${cluster}/kustomization.yaml`] =
        `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- none.yaml\n` +
        (here.length > 0 ? `components:\n${here.map(({ name }) => `- ../base/${name}\n`).join('')}` : '')
    }
  }
}

const pathPatch = (name: string, namespace: string, cluster: string) =>
  `apiVersion: ${apiVersionOf(KUSTOMIZATION)}\nkind: Kustomization\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\nspec:\n  path: ./${cluster}\n`

function source(name: string, namespace: string): string {
  return `---\napiVersion: ${apiVersionOf(GIT_REPOSITORY)}\nkind: GitRepository\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\nspec:\n  interval: 1m0s\n  ref:\n    branch: main\n  url: https://github.com/acme/${name}\n`
}

function kustomization(name: string, namespace: string, path: string, account?: string): string {
  const of = account ?? 'flux-system'
  return `---\napiVersion: ${apiVersionOf(KUSTOMIZATION)}\nkind: Kustomization\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\nspec:\n  interval: 1m0s\n  path: ${path}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: ${of}\n  serviceAccountName: ${account ?? 'kustomize-controller'}\n`
}

function bootstrap(cluster: string): string {
  return `---\napiVersion: ${apiVersionOf(GIT_REPOSITORY)}\nkind: GitRepository\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  interval: 1m0s\n  ref:\n    branch: main\n  url: ${FLEET_URL}\n${kustomization('flux-system', 'flux-system', `./clusters/${cluster}`)}`
}
