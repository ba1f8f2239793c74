import { oncePer } from '../../base/once-per.ts'
import { kubernetesLibrary } from '../../expr/libraries/kubernetes-library.ts'
import { nodeOf } from '../../fleet/model/kustomization-spec.ts'
import { HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { at, itemsOf, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { readableDocuments } from '../../kube/yaml/parse-documents.ts'
import type { AdmissionWorld } from '../admission/admission-request.ts'
import { type CelPolicy, compilePolicy } from '../admission/native-policy.ts'
import { matchesWildcard } from '../jmespath/values.ts'
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

/** The settings in the ConfigMap of Kyverno, if the fleet renders one, else its defaults. */
export function kyvernoSettings(world: AdmissionWorld): KyvernoSettings {
  if (world.given) return NONE
  const object = world.object('/ConfigMap', KYVERNO, KYVERNO)
  if (!object) return DEFAULTS
  return readSettings(object)
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

const readSettings = oncePer((object: KubeObject): KyvernoSettings => {
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
})

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
  return readableDocuments({ repository: '', path: key }, new TextEncoder().encode(text))?.[0]
}

/** `matchConditions` of a webhook, in the order in which the API server evaluates them. */
export const conditionsOf = oncePer((list: Node): CelPolicy => {
  const { origin } = list
  const field = (value: Node) => ({ key: origin, value })
  const spec: MapNode = { type: 'map', fields: new Map([['matchConditions', field(list)]]), origin }
  const root = { ...(nodeOf({}, origin) as MapNode), fields: new Map([['spec', field(spec)]]) }
  return compilePolicy({ root, trail: [] }, { by: 'Kubernetes', library: kubernetesLibrary })
})

export const EXCEPTION_KINDS = ['kyverno.io/PolicyException', 'policies.kyverno.io/PolicyException'] as const
/** The kinds that may hold Kyverno's flags. */
const SETTING_KINDS = ['apps/Deployment', HELM_RELEASE] as const

/** What the fleet shows of Kyverno's flags for PolicyExceptions; undefined: not shown. */
interface ExceptionSettings {
  /** `--enablePolicyException`. */
  readonly isEnabled: boolean | undefined
  /** `--exceptionNamespace`. */
  readonly namespace: string | undefined
}

/** The flags of Kyverno's admission controller, or the values of its Helm chart, where the platform renders one of them. */
export function exceptionSettings(world: Pick<AdmissionWorld, 'policies'>): ExceptionSettings | undefined {
  for (const kind of SETTING_KINDS) {
    for (const object of world.policies(kind)) {
      const found = settingsOf(object)
      if (found) return found
    }
  }
  return undefined
}

/** Whether Kyverno reads the exceptions of a namespace. What the fleet does not show counts as if it does. */
function readsExceptions(settings: ExceptionSettings | undefined, group: string, namespace: string): boolean {
  if (settings?.isEnabled === false) return false
  const own = settings?.namespace
  if (own === undefined || own === '*') return true
  // Kyverno 1.19: an empty flag disables those of kyverno.io only
  return own === '' ? group !== 'kyverno.io' : own === namespace
}

/** Of some exceptions those that Kyverno reads; its command line reads all. */
export function readExceptions(
  world: AdmissionWorld,
  group: string,
  exceptions: readonly KubeObject[],
): readonly KubeObject[] {
  if (exceptions.length === 0 || world.given) return exceptions
  const settings = exceptionSettings(world)
  return exceptions.filter(exception => readsExceptions(settings, group, idOf(exception).namespace))
}

/** The settings in one object; undefined if it does not run or install Kyverno. */
const settingsOf = oncePer((object: KubeObject): ExceptionSettings | undefined =>
  idOf(object).kind === 'Deployment' ? ofDeployment(object) : ofRelease(object),
)

const ENABLE = 'enablePolicyException'
const NAMESPACE = 'exceptionNamespace'

function ofDeployment(object: KubeObject): ExceptionSettings | undefined {
  if (!isAdmissionController(object)) return undefined
  const base = ['spec', 'template', 'spec', 'containers']
  for (const container of itemsOf(at(object.root, base))) {
    for (const key of ['args', 'command']) {
      const flags = flagsOf(at(container, [key]))
      const enabled = flags.get(ENABLE)
      if (enabled === undefined) continue
      return { isEnabled: /^(?:1|t|true)$/i.test(enabled), namespace: flags.get(NAMESPACE) ?? '' }
    }
  }
  return { isEnabled: undefined, namespace: undefined }
}

function isAdmissionController(object: KubeObject): boolean {
  const labels = at(object.root, ['metadata', 'labels'])
  const isPart = matchesWildcard('*kyverno*', stringAt(labels, ['app.kubernetes.io/part-of']) ?? '')
  const isOwn = stringAt(labels, ['app.kubernetes.io/component']) === 'admission-controller'
  return (isPart && isOwn) || idOf(object).name === 'kyverno-admission-controller'
}

/** Go's flags: `-name=value`, `--name=value`, `--name value`, and `--name` alone for a boolean; the last one counts. */
function flagsOf(list: Node | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const args = itemsOf(list).map(one => (one.type === 'scalar' ? String(one.value) : ''))
  for (const [index, argument] of args.entries()) {
    const [, name, value] = /^--?(\w+)(?:=(.*))?$/s.exec(argument) ?? []
    if (name === ENABLE) found.set(name, value ?? 'true')
    if (name === NAMESPACE) found.set(name, value ?? args[index + 1] ?? '')
  }
  return found
}

/** A HelmRelease of the chart `kyverno`: its own values take precedence over those of `valuesFrom`. */
function ofRelease(object: KubeObject): ExceptionSettings | undefined {
  const chart = stringAt(object.root, ['spec', 'chart', 'spec', 'chart'])
  if (chart === undefined || !/(?:^|\/)kyverno$/.test(chart)) return undefined
  const base = ['spec', 'values', 'features', 'policyExceptions']
  const enabled = at(object.root, [...base, 'enabled'])
  const isEnabled = enabled?.type === 'scalar' && typeof enabled.value === 'boolean' ? enabled.value : undefined
  return { isEnabled, namespace: stringAt(object.root, [...base, 'namespace']) }
}
