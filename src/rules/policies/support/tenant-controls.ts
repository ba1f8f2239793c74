import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { tenantRights } from '../../../facts/tenant-rights.ts'
import { readLabelSelector, selects } from '../../../kube/label-selector.ts'
import { at, canonical, itemsOf, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { groupOf, type KubeObject } from '../../../kube/object.ts'
import { resourceOf } from '../../../kube/rbac/resource-name.ts'
import { ruleAllows } from '../../../kube/rbac/rule-allows.ts'
import { textMapOf, textsOf } from '../../../kube/read-text.ts'
import { worldOf } from '../../../policy/admission/admission-world.ts'
import {
  EXCEPTION_KINDS,
  type ExceptionSettings,
  exceptionSettings,
  readsExceptions,
  SETTING_KINDS,
  settingsOf,
} from '../../../policy/kyverno/exception-settings.ts'
import { matchesWildcard } from '../../../policy/kyverno/jmespath/wildcard.ts'

/** A part of a policy that depends on what tenants write. */
export interface TenantControl {
  readonly path: Path
  /** `parameters`: what the policy compares with; the others: what decides whether it applies. */
  readonly how: 'parameters' | 'labels' | 'annotations' | 'names' | 'condition' | 'namespace labels' | 'exceptions'
  /** Sorted. */
  readonly tenants: readonly string[]
}

const NATIVE = 'admissionregistration.k8s.io'
const CEL_KINDS = ['Validating', 'ImageValidating'].flatMap(what => [
  `policies.kyverno.io/${what}Policy`,
  `policies.kyverno.io/Namespaced${what}Policy`,
])
const POLICY = `${NATIVE}/ValidatingAdmissionPolicy`
const BINDING = `${NATIVE}/ValidatingAdmissionPolicyBinding`
const KYVERNO = ['kyverno.io/ClusterPolicy', 'kyverno.io/Policy']
const isSettingKind = (kind: string) => SETTING_KINDS.some(one => one === kind)

/** The kinds whose parts may depend on tenants. */
export const CONTROLLED_KINDS: readonly string[] = [POLICY, BINDING, ...CEL_KINDS, ...KYVERNO, ...SETTING_KINDS]

/** By what tenants can escape a policy of the platform, or loosen it, each part once. */
export function* tenantControls(
  index: FleetIndex,
  cluster: string,
  kind: string,
  object: KubeObject,
): Iterable<TenantControl> {
  const tenants = new Tenants(index, cluster)
  if (tenants.isNone) return
  if (isSettingKind(kind)) {
    yield* ofExceptions(tenants, settingsOf(kind, object))
    return
  }
  const { root } = object
  if (kind === BINDING) {
    yield* ofParameters(index, tenants, root)
    yield* ofMatch(tenants, root, ['spec', 'matchResources'])
  } else if (KYVERNO.includes(kind)) yield* ofRules(tenants, root)
  else {
    yield* ofMatch(tenants, root, ['spec', 'matchConstraints'])
    const all = tenants.selected(at(root, ['spec', 'matchConstraints', 'namespaceSelector']))
    for (const [position, item] of itemsOf(at(root, ['spec', 'matchConditions'])).entries()) {
      if (OF_TENANTS.test(stringAt(item, ['expression']) ?? ''))
        yield* found(['spec', 'matchConditions', position, 'expression'], 'condition', all)
    }
  }
}

/** The tenants that can write PolicyExceptions, where the fleet does not show from which namespaces Kyverno reads them. */
export function possibleExceptors(index: FleetIndex, cluster: string): readonly string[] {
  const isKyverno = [...KYVERNO, ...CEL_KINDS].some(kind => index.platformAnywhere(cluster, kind).length > 0)
  if (!isKyverno) return []
  const settings = exceptionSettings(worldOf(index, cluster))
  const isShown = settings?.isEnabled !== undefined && settings.namespace !== undefined
  if (isShown || settings?.isEnabled === false) return []
  return new Tenants(index, cluster).excepting(settings)
}

/** Kyverno's flags, where they let it read PolicyExceptions that accounts of tenants can write. */
function* ofExceptions(tenants: Tenants, settings: ExceptionSettings | undefined): Iterable<TenantControl> {
  if (!settings?.isEnabled || settings.namespace === undefined) return
  yield* found(settings.path, 'exceptions', tenants.excepting(settings))
}

/** What of an object its tenant chooses freely and policies select by. */
const OF_TENANTS = /\b(?:object|oldObject)\.metadata\.\??(?:labels|annotations)\b/

function* found(path: Path, how: TenantControl['how'], tenants: readonly string[]): Iterable<TenantControl> {
  if (tenants.length > 0) yield { path, how, tenants }
}

const WRITES = ['create', 'update', 'patch']

function* ofParameters(index: FleetIndex, tenants: Tenants, root: Node): Iterable<TenantControl> {
  const reference = at(root, ['spec', 'paramRef'])
  const policy = index.platformObject(tenants.cluster, POLICY, '', stringAt(root, ['spec', 'policyName']) ?? '')
  const [apiVersion, kind] = ['apiVersion', 'kind'].map(key => stringAt(policy?.root, ['spec', 'paramKind', key]) ?? '')
  if (!reference || !apiVersion || !kind || index.scopeOf(tenants.cluster, apiVersion, kind) === 'Cluster') return
  const resource = { apiGroup: groupOf(apiVersion), resource: resourceOf(apiVersion, kind, new Map()) }
  const name = stringAt(reference, ['name']) ?? ''
  const named = stringAt(reference, ['namespace'])
  const selected = new Set(tenants.selected(at(root, ['spec', 'matchResources', 'namespaceSelector'])))
  const writers = tenants.all.filter(
    ({ namespace, tenant }) =>
      (named !== undefined || selected.has(tenant)) && tenants.mayWrite(tenant, named ?? namespace, resource, name),
  )
  yield* found(['spec', 'paramRef'], 'parameters', distinct(writers.map(({ tenant }) => tenant)))
}

/** The selectors of `matchConstraints` or `matchResources`. */
function* ofMatch(tenants: Tenants, root: Node, base: Path): Iterable<TenantControl> {
  const namespaces = at(root, [...base, 'namespaceSelector'])
  if (isFilled(at(root, [...base, 'objectSelector'])))
    yield* found([...base, 'objectSelector'], 'labels', tenants.selected(namespaces))
  if (isFilled(namespaces)) yield* found([...base, 'namespaceSelector'], 'namespace labels', tenants.labelling())
}

const isFilled = (node: Node | undefined) =>
  (node?.type === 'map' && [...node.fields.values()].some(({ value }) => canonical(value) !== '[]')) ||
  (node?.type === 'list' && node.items.length > 0) ||
  (node?.type === 'scalar' && typeof node.value === 'string' && node.value !== '')

const BY_TENANT = { selector: 'labels', annotations: 'annotations', names: 'names', name: 'names' } as const

/** The filters of Kyverno's rules: names leave an object out of what is excluded only, a match by name is about that object. */
function* ofRules(tenants: Tenants, root: Node): Iterable<TenantControl> {
  for (const [position, rule] of itemsOf(at(root, ['spec', 'rules'])).entries()) {
    if (!at(rule, ['validate']) && !at(rule, ['verifyImages'])) continue
    for (const block of ['match', 'exclude'] as const) {
      for (const { path, filter } of filtersOf(rule, block)) {
        const own = tenants.filtered(filter)
        for (const [key, how] of Object.entries(BY_TENANT)) {
          if (how === 'names' && block === 'match') continue
          const steps = [...path, 'resources', key]
          if (isFilled(at(rule, steps))) yield* found(['spec', 'rules', position, ...steps], how, own)
        }
        const steps = [...path, 'resources', 'namespaceSelector']
        if (isFilled(at(rule, steps)))
          yield* found(['spec', 'rules', position, ...steps], 'namespace labels', tenants.labelling())
      }
    }
    const conditions = at(rule, ['preconditions'])
    const isOfTenants = conditions && /request\.object\.metadata\.(?:labels|annotations)\b/.test(canonical(conditions))
    if (isOfTenants)
      yield* found(['spec', 'rules', position, 'preconditions'], 'condition', tenants.selected(undefined))
  }
}

/** The filters of a block; one that asks for accounts is not the tenant's to choose. */
function filtersOf(rule: Node, block: 'match' | 'exclude'): readonly { readonly path: Path; readonly filter: Node }[] {
  const lists = ['any', 'all'].flatMap(key =>
    itemsOf(at(rule, [block, key])).map((filter, index) => ({ path: [block, key, index] as Path, filter })),
  )
  const own = at(rule, [block])
  const all = lists.length > 0 || !own ? lists : [{ path: [block] as Path, filter: own }]
  const isOfAccounts = (filter: Node) => ['subjects', 'roles', 'clusterRoles'].some(key => isFilled(at(filter, [key])))
  return all.filter(({ filter }) => !isOfNamespaces(filter) && (block === 'match' || !isOfAccounts(filter)))
}

/** Whether a filter is about Namespaces themselves, whose labels are the platform's. */
function isOfNamespaces(filter: Node): boolean {
  const kinds = textsOf(at(filter, ['resources', 'kinds'])) ?? []
  return kinds.length > 0 && kinds.every(kind => /(?:^|\/)Namespace$/.test(kind))
}

const distinct = (list: readonly string[]) => [...new Set(list)].sort()

/** The tenants of a cluster and their namespaces. */
class Tenants {
  readonly cluster: string
  readonly all: readonly { readonly namespace: string; readonly tenant: string }[]
  readonly #index: FleetIndex

  constructor(index: FleetIndex, cluster: string) {
    this.cluster = cluster
    this.#index = index
    this.all = [...index.ownersOf(cluster)].map(([namespace, tenant]) => ({ namespace, tenant }))
  }

  get isNone(): boolean {
    return this.all.length === 0
  }

  /** Those of which a namespace is selected; what cannot be read selects all. */
  selected(selector: Node | undefined): string[] {
    const read = selector && readLabelSelector(selector)
    const own = this.all.filter(({ namespace }) => !read || selects(read, this.#labels(namespace)))
    return distinct(own.map(({ tenant }) => tenant))
  }

  /** Those of which a namespace is one that a filter of Kyverno selects. */
  filtered(filter: Node): string[] {
    const patterns = textsOf(at(filter, ['resources', 'namespaces'])) ?? []
    const selected = new Set(this.selected(at(filter, ['resources', 'namespaceSelector'])))
    const isNamed = (namespace: string) =>
      patterns.length === 0 || patterns.some(one => matchesWildcard(one, namespace))
    return distinct(
      this.all
        .filter(({ namespace, tenant }) => isNamed(namespace) && selected.has(tenant))
        .map(({ tenant }) => tenant),
    )
  }

  /** Those who may set labels of a namespace of theirs. */
  labelling(): string[] {
    const own = this.all.filter(({ namespace }) =>
      this.#index
        .tenantRights(this.cluster, namespace)
        .rules.some(rule =>
          ['update', 'patch'].some(verb =>
            ruleAllows(rule, { verb, apiGroup: '', resource: 'namespaces', namespace, name: namespace }),
          ),
        ),
    )
    return distinct(own.map(({ tenant }) => tenant))
  }

  /** Whether accounts of a tenant may write objects of a resource in a namespace. */
  mayWrite(
    tenant: string,
    namespace: string,
    resource: { readonly apiGroup: string; readonly resource: string },
    name: string,
  ): boolean {
    const own = new Map(this.all.filter(one => one.tenant === tenant).map(one => [one.namespace, tenant]))
    const { rules } = tenantRights(this.#index.authorizer(this.cluster), namespace, own)
    return rules.some(rule => WRITES.some(verb => ruleAllows(rule, { ...resource, verb, namespace, name })))
  }

  /** Those who may write PolicyExceptions where Kyverno reads them. */
  excepting(settings: ExceptionSettings | undefined): string[] {
    const isRead = (group: string, namespace: string) => readsExceptions(settings, group, namespace)
    const places = (namespace: string) => {
      const one = settings?.namespace ?? '*'
      return one === '*' || one === '' ? namespace : one
    }
    const writers = this.all.filter(({ namespace, tenant }) =>
      EXCEPTION_KINDS.some(kind => {
        const [apiGroup, place] = [groupOf(kind), places(namespace)]
        return isRead(apiGroup, place) && this.mayWrite(tenant, place, { apiGroup, resource: 'policyexceptions' }, '')
      }),
    )
    return distinct(writers.map(({ tenant }) => tenant))
  }

  #labels(namespace: string): ReadonlyMap<string, string> {
    const object = this.#index.platformObject(this.cluster, '/Namespace', '', namespace)
    const written = object && textMapOf(at(object.root, ['metadata', 'labels']))
    return new Map([...(written ?? []), ['kubernetes.io/metadata.name', namespace]])
  }
}
