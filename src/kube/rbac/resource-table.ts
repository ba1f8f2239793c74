import { FLUX_KINDS } from '../../flux/kinds.ts'
import type { Scope } from '../capabilities/capability.ts'
import { type CustomScopes, KUBERNETES_SCOPES, PROJECT_SCOPES } from '../scope/scope.ts'
import { type CustomPlurals, resourceOf } from './resource-name.ts'

export interface KnownResource {
  readonly group: string
  readonly kind: string
  readonly resource: string
  readonly scope: Scope
}

/** Short names as `kubectl` takes them, of Kubernetes (a test asks a real API server) and of Flux. */
export const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['cm', '/configmaps'],
  ['ep', '/endpoints'],
  ['ev', '/events'],
  ['limits', '/limitranges'],
  ['no', '/nodes'],
  ['ns', '/namespaces'],
  ['po', '/pods'],
  ['pv', '/persistentvolumes'],
  ['pvc', '/persistentvolumeclaims'],
  ['quota', '/resourcequotas'],
  ['rc', '/replicationcontrollers'],
  ['sa', '/serviceaccounts'],
  ['svc', '/services'],
  ['deploy', 'apps/deployments'],
  ['ds', 'apps/daemonsets'],
  ['rs', 'apps/replicasets'],
  ['sts', 'apps/statefulsets'],
  ['hpa', 'autoscaling/horizontalpodautoscalers'],
  ['cj', 'batch/cronjobs'],
  ['crd', 'apiextensions.k8s.io/customresourcedefinitions'],
  ['crds', 'apiextensions.k8s.io/customresourcedefinitions'],
  ['csr', 'certificates.k8s.io/certificatesigningrequests'],
  ['ing', 'networking.k8s.io/ingresses'],
  ['netpol', 'networking.k8s.io/networkpolicies'],
  ['pdb', 'policy/poddisruptionbudgets'],
  ['pc', 'scheduling.k8s.io/priorityclasses'],
  ['sc', 'storage.k8s.io/storageclasses'],
  ...FLUX_KINDS.flatMap(({ group, plural, shortNames = [] }) =>
    shortNames.map(name => [name, `${group}/${plural}`] as const),
  ),
])

/** The resources of a cluster: of Kubernetes itself, of the fleet's own definitions, and of well-known projects. */
export class ResourceTable {
  /** Those of an earlier tier are meant where a name alone fits several. */
  readonly #tiers: readonly ReadonlyMap<string, KnownResource>[]

  constructor(scopes: CustomScopes = new Map(), plurals: CustomPlurals = new Map()) {
    this.#tiers = [tier(KUBERNETES_SCOPES, plurals), tier(scopes, plurals), tier(PROJECT_SCOPES, plurals)]
  }

  /** The resource of a group, exactly as rules name it. */
  get(group: string, resource: string): KnownResource | undefined {
    return this.#tiers.map(known => known.get(`${group}/${resource}`)).find(one => one !== undefined)
  }

  /**
   * What a word of a command line stands for: plural, singular, kind or short name, in any case, alone or with `.group` or
   * `.version.group`. Several: the word is ambiguous. None: not known. The core group comes first, then that of the table.
   */
  find(text: string): readonly KnownResource[] {
    const [name = '', ...rest] = text.toLowerCase().split('.')
    const group = (/^v\d+(?:(?:alpha|beta)\d+)?$/.test(rest[0] ?? '') ? rest.slice(1) : rest).join('.')
    for (const [at, known] of this.#tiers.entries()) {
      const named = [...known.values()].filter(
        one =>
          [one.resource, one.kind.toLowerCase()].includes(name) ||
          SHORT_NAMES.get(name) === `${one.group}/${one.resource}`,
      )
      const found = rest.length > 0 ? named.filter(one => one.group === group) : named
      // Kubernetes has events, and events: the first one is meant
      if (found.length > 0) return at === 0 ? found.slice(0, 1) : found
    }
    return []
  }
}

function tier(scopes: CustomScopes, plurals: CustomPlurals): ReadonlyMap<string, KnownResource> {
  const known = new Map<string, KnownResource>()
  for (const [key, scope] of scopes) {
    const slash = key.indexOf('/')
    const [group, kind] = [key.slice(0, slash), key.slice(slash + 1)]
    const resource = resourceOf(`${group}/v1`, kind, plurals)
    known.set(`${group}/${resource}`, { group, kind, resource, scope })
  }
  return known
}
