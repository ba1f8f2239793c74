import type { Scope } from '../capabilities/capability.ts'
import { type CustomScopes, KUBERNETES_SCOPES, PROJECT_SCOPES } from '../capabilities/scope.ts'
import { FLUX_KINDS } from '../flux-kinds.ts'
import { stringAt } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'

/** Plurals of custom kinds by `<group>/<Kind>`. */
export type CustomPlurals = ReadonlyMap<string, string>

/** The plurals that CustomResourceDefinitions among `objects` declare. */
export function customPlurals(objects: Iterable<KubeObject>): CustomPlurals {
  const plurals = new Map<string, string>()
  for (const object of objects) {
    const { apiVersion, kind } = idOf(object)
    if (kind !== 'CustomResourceDefinition' || groupOf(apiVersion) !== 'apiextensions.k8s.io') continue
    const plural = stringAt(object.root, ['spec', 'names', 'plural'])
    const key = `${stringAt(object.root, ['spec', 'group'])}/${stringAt(object.root, ['spec', 'names', 'kind'])}`
    if (plural) plurals.set(key, plural)
  }
  return plurals
}

/** Kinds whose resource does not follow from their name. */
const ODD = new Map([
  ['/Endpoints', 'endpoints'],
  ['argoproj.io/EventBus', 'eventbus'],
  ['k8s.cni.cncf.io/NetworkAttachmentDefinition', 'network-attachment-definitions'],
  ['expansion.gatekeeper.sh/ExpansionTemplate', 'expansiontemplate'],
  ['mutations.gatekeeper.sh/Assign', 'assign'],
  ['mutations.gatekeeper.sh/AssignImage', 'assignimage'],
  ['mutations.gatekeeper.sh/AssignMetadata', 'assignmetadata'],
  ['mutations.gatekeeper.sh/ModifySet', 'modifyset'],
  ['operator.victoriametrics.com/VLDistributed', 'vldistributed'],
  ['operator.victoriametrics.com/VLogs', 'vlogs'],
  ['operator.victoriametrics.com/VMDistributed', 'vmdistributed'],
  ['secrets.hashicorp.com/CSISecrets', 'csisecrets'],
  ['security.openshift.io/SecurityContextConstraints', 'securitycontextconstraints'],
])

/**
 * The resource of a kind, as rules and URLs name it: what the fleet's own definition says, else the English plural, which is
 * right for every kind of Kubernetes itself (a test asks a real API server) and of the projects that src/kube/capabilities/scope.ts knows.
 */
export function resourceOf(apiVersion: string, kind: string, custom: CustomPlurals): string {
  const key = `${groupOf(apiVersion)}/${kind}`
  return custom.get(key) ?? ODD.get(key) ?? plural(kind.toLowerCase())
}

function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}

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
