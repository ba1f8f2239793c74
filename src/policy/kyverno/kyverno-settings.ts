import { kubernetesLibrary } from '../../cel/kubernetes/kubernetes-library.ts'
import { BailiwickError } from '../../errors.ts'
import { nodeOf } from '../../fleet/model/synthetic.ts'
import { type MapNode, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { type CelPolicy, compilePolicy } from '../native/native-policy.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import type { RuleRequest } from './rule-request.ts'

/** Default namespace of Kyverno and its ConfigMap. */
const KYVERNO = 'kyverno'

/** Kyverno's default resource filters (charts/kyverno/values.yaml). */
const KINDS = [
  ...['Event', 'Node', 'APIService', 'TokenReview', 'SubjectAccessReview', 'SelfSubjectAccessReview', 'Binding'],
  ...['ReplicaSet', 'EphemeralReport', 'ClusterEphemeralReport'],
].map(kind => `[${kind},*,*]`)
const NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', KYVERNO].map(namespace => `[*/*,${namespace},*]`)

/** What Kyverno's ConfigMap says about the requests that its policies see (pkg/config of Kyverno). */
export interface KyvernoSettings {
  /** `[kind,namespace,name]` of the objects that Kyverno ignores. */
  readonly filters: readonly string[]
  readonly excluded: Accounts
  /** Accounts that `!` takes out of those. */
  readonly included: Accounts
  /** `namespaceSelector` and `objectSelector` of its webhooks. */
  readonly selectors: Node | undefined
  /** Conditions of its webhooks. */
  readonly conditions: CelPolicy | undefined
}

/** Patterns of names. */
interface Accounts {
  readonly users: readonly string[]
  readonly groups: readonly string[]
  readonly roles: readonly string[]
  readonly clusterRoles: readonly string[]
}

const NO_ACCOUNTS: Accounts = { users: [], groups: [], roles: [], clusterRoles: [] }
const DEFAULTS: KyvernoSettings = {
  ...{ filters: [...KINDS, ...NAMESPACES], excluded: NO_ACCOUNTS, included: NO_ACCOUNTS },
  ...{ selectors: undefined, conditions: undefined },
}
/** Kyverno's command line has no settings. */
const NONE: KyvernoSettings = { ...DEFAULTS, filters: [] }

const kept = new WeakMap<KubeObject, KyvernoSettings>()

/** The settings in the ConfigMap of Kyverno, if the fleet renders one, else its defaults. */
export function kyvernoSettings(world: AdmissionWorld): KyvernoSettings {
  if (world.given) return NONE
  const object = world.object('/ConfigMap', KYVERNO, KYVERNO)
  if (!object) return DEFAULTS
  const made = kept.get(object) ?? readSettings(object)
  kept.set(object, made)
  return made
}

/** Whether the settings exclude the account of a request. */
export function isAccountExcluded({ excluded, included }: KyvernoSettings, request: RuleRequest): boolean {
  return !isAmong(included, request) && isAmong(excluded, request)
}

function isAmong(accounts: Accounts, { user, roles, clusterRoles }: RuleRequest): boolean {
  const like = (patterns: readonly string[], names: readonly string[]) =>
    patterns.some(pattern => names.some(name => matchesWildcard(pattern, name)))
  return (
    like(accounts.users, user ? [user.name] : []) ||
    like(accounts.groups, user?.groups ?? []) ||
    like(accounts.roles, roles) ||
    like(accounts.clusterRoles, clusterRoles)
  )
}

function readSettings(object: KubeObject): KyvernoSettings {
  const at = (key: string) => stringAt(object.root, ['data', key])
  const accounts = (isIncluded: boolean): Accounts => ({
    users: patterns(at('excludeUsernames'), isIncluded),
    groups: patterns(at('excludeGroups'), isIncluded),
    roles: patterns(at('excludeRoles'), isIncluded),
    clusterRoles: patterns(at('excludeClusterRoles'), isIncluded),
  })
  const conditions = jsonAt(object, 'matchConditions')
  return {
    filters: (at('resourceFilters') ?? '').match(/\[[^\]]*\]/g) ?? [],
    excluded: accounts(false),
    included: accounts(true),
    selectors: jsonAt(object, 'webhooks'),
    conditions: conditions && conditionsOf(conditions),
  }
}

function patterns(text = '', isIncluded: boolean): string[] {
  const all = text.split(',').map(one => one.trim())
  return all.flatMap(one => {
    if (one.startsWith('!') !== isIncluded) return []
    const pattern = isIncluded ? one.slice(1).trim() : one
    return pattern === '' ? [] : [pattern]
  })
}

/** A value in JSON; Kyverno ignores one that it cannot read. */
function jsonAt(object: KubeObject, key: string): Node | undefined {
  const text = stringAt(object.root, ['data', key])
  if (text === undefined) return undefined
  try {
    const [root] = parseDocuments({ repository: '', path: key }, new TextEncoder().encode(text))
    return root
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}

const compiled = new WeakMap<Node, CelPolicy>()

/** `matchConditions` of a webhook, in the order in which the API server evaluates them. */
export function conditionsOf(list: Node): CelPolicy {
  const { origin } = list
  const field = (value: Node) => ({ key: origin, value })
  const spec: MapNode = { type: 'map', fields: new Map([['matchConditions', field(list)]]), origin }
  const root = { ...(nodeOf({}, origin) as MapNode), fields: new Map([['spec', field(spec)]]) }
  const made =
    compiled.get(list) ?? compilePolicy({ root, trail: [] }, { by: 'Kubernetes', library: kubernetesLibrary })
  compiled.set(list, made)
  return made
}
