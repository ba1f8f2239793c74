import type { Json } from '../../../../src/kube/node.ts'
import { DEFINITION, definition, KINDS, NAMESPACE, objectOf, RBAC_KINDS, STANDING, urlOf } from './applied-kinds.ts'
import { binding, role } from './plain-object.ts'
import { Draw, NAMESPACES } from './random-world.ts'

type JsonMap = { [key: string]: Json }

/** May this user apply, read or delete this object? */
export interface ApplyQuestion {
  readonly user: string
  readonly object: Json
  /** The object as it stands in the cluster. */
  readonly before?: Json | undefined
}

/** Roles and bindings of a cluster that holds STANDING too, and questions about it. */
export interface ApplyWorld {
  readonly rbac: readonly Json[]
  readonly questions: readonly ApplyQuestion[]
}

const USERS = [
  'system:serviceaccount:apps:dev',
  'system:serviceaccount:apps:dev',
  'system:serviceaccount:apps:ci',
  'system:serviceaccount:other:dev',
  'gotk:apps:reconciler',
  'alice',
  'system:anonymous',
  // two that look like accounts and are plain users
  'system:serviceaccount:apps:dev:x',
  'system:serviceaccount:Apps:dev',
  // bound by what every API server brings
  'system:serviceaccount:kube-system:clusterrole-aggregation-controller',
  'system:kube-controller-manager',
]
const GROUPS = [
  'dev',
  'system:serviceaccounts',
  'system:serviceaccounts:apps',
  'system:serviceaccounts:other',
  'system:authenticated',
  'system:unauthenticated',
]
const VERB_SETS = [
  ['get', 'patch', 'create'],
  ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  ['get', 'patch', 'create', 'delete'],
  ['patch', 'create'],
  ['get', 'patch'],
  ['get', 'list', 'watch'],
  ['create', 'update'],
  ['patch'],
  ['*'],
]
const GRANTING_VERBS = ['bind', 'escalate', 'patch', 'create', 'get', '*']
const NAMES = ['standing', 'a', ...NAMESPACES, 'fresh']
const ROLES = 5
const ROLE_NAMES = ['role-0', 'role-1', 'view', 'admin', 'missing', 'written']
/** A role that selects one that selects it. */
export const IN_CIRCLE = 'ring-a'
const RBAC_GROUP = 'rbac.authorization.k8s.io'
const LIFTED = ['view', 'edit', 'admin'].map(name => `${RBAC_GROUP}/aggregate-to-${name}`)
const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.split('/')[0]! : '')
const metadataOf = (object: Json) => (object as { metadata: JsonMap }).metadata

/** A world and so many questions; the same seed draws the same. */
export function applyWorld(seed: number, count: number): ApplyWorld {
  const draw = new ApplyDraw(seed)
  const rbac = [...draw.roles(ROLES), ...draw.gathering(), ...draw.bindings(6, ROLES), ...draw.writers()]
  return { rbac, questions: Array.from({ length: count }, () => draw.question(rbac)) }
}

class ApplyDraw extends Draw {
  /** Few in each world, so that its roles and questions meet. */
  readonly #kinds = this.some(KINDS, 7)
  readonly #users = this.some(USERS, 5)

  override rule(paths: boolean): Json {
    if (paths && this.chance(0.1)) return super.rule(true)
    if (this.chance(0.03)) return { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
    if (this.chance(0.25)) return this.#grantingRule()
    const kinds = this.some([...this.#kinds, ...this.#kinds, NAMESPACE, DEFINITION, ...RBAC_KINDS], 4)
    const rule = {
      verbs: this.one(VERB_SETS),
      apiGroups: this.chance(0.1) ? ['*'] : [...new Set(kinds.map(({ apiVersion }) => groupOf(apiVersion)))],
      resources: this.chance(0.25) ? ['*'] : kinds.map(({ resource }) => this.#below(resource)),
    }
    if (this.chance(0.15)) return { ...rule, resourceNames: this.some(NAMES, 2) }
    return this.chance(0.05) ? { ...rule, resourceNames: [] } : rule
  }

  /** A resource, seldom something that is not it. */
  #below(resource: string): string {
    return this.chance(0.9) ? resource : this.one([`${resource}/status`, `${resource}/*`, '*/scale', `${resource}/`])
  }

  #grantingRule(): Json {
    const kinds = this.some(RBAC_KINDS, 3).map(({ resource }) => resource)
    const rule = { verbs: this.some(GRANTING_VERBS, 4), apiGroups: [RBAC_GROUP], resources: kinds }
    return this.chance(0.3) ? { ...rule, resourceNames: this.some(ROLE_NAMES, 3) } : rule
  }

  /** Some ClusterRoles are lifted into those of the API server. */
  override roles(count: number): Json[] {
    return super.roles(count).map(one => {
      if ((one as JsonMap).kind !== 'ClusterRole' || this.chance(0.8)) return one
      const metadata = metadataOf(one)
      const labels = { ...(metadata.labels as JsonMap), [this.one(LIFTED)]: this.one(['true', 'true', 'false']) }
      return { ...(one as JsonMap), metadata: { ...metadata, labels } }
    })
  }

  /** A role that gathers others, of which nothing is gathered; seldom a circle. */
  gathering(): Json[] {
    const selector = this.one<Json>([
      { matchLabels: { [this.one(LIFTED)]: 'true' } },
      { matchExpressions: [{ key: this.one(LIFTED), operator: 'Exists' }] },
      {},
    ])
    const aggregationRule = (...clusterRoleSelectors: Json[]) => ({ aggregationRule: { clusterRoleSelectors } })
    const gather = role('', 'gather', this.rules(true), aggregationRule(selector))
    if (this.chance(0.95)) return [gather]
    const ring = [IN_CIRCLE, 'ring-b'].map((name, at, all) => {
      const metadata = { name, labels: { ring: name } }
      const select = aggregationRule({ matchLabels: { ring: all[1 - at]! } })
      return role('', name, this.rules(false), { metadata, ...select })
    })
    return [gather, ...ring]
  }

  /** Some may write roles and bindings, so that it matters what they grant. */
  writers(): Json[] {
    const rules = [
      { verbs: ['get', 'patch', 'create'], apiGroups: [RBAC_GROUP], resources: RBAC_KINDS.map(one => one.resource) },
    ]
    return [role('', 'writer', rules), binding('', 'writer', 'ClusterRole writer', ...this.some(this.subjects(''), 3))]
  }

  override roleRef(namespace: string, count: number): string {
    if (this.chance(0.15))
      return `ClusterRole ${this.one(['gather', 'cluster-admin', 'admin', 'edit', 'view', IN_CIRCLE])}`
    return super.roleRef(namespace, count)
  }

  override subjects(namespace: string): string[] {
    const users = this.#users.map(name => `User ${name}`)
    const accounts = ['apps/dev', 'apps/ci', 'other/dev', ...(namespace ? ['dev'] : [])]
    const groups = GROUPS.slice(0, namespace ? GROUPS.length : 4)
    return [...users, ...groups.map(name => `Group ${name}`), ...accounts.map(path => `ServiceAccount ${path}`)]
  }

  question(rbac: readonly Json[]): ApplyQuestion {
    const user = this.one(this.#users)
    const object = this.chance(0.4) ? this.#granting(rbac) : this.chance(0.15) ? this.#inCluster() : this.#ordinary()
    const before = [...STANDING, ...rbac].find(one => urlOf(one) === urlOf(object))
    return { user, object, ...(before === undefined ? {} : { before }) }
  }

  #inCluster(): Json {
    if (this.chance(0.8)) return objectOf(NAMESPACE, '', this.one([...NAMESPACES, 'fresh']))
    const [widget] = KINDS.filter(({ kind }) => kind === 'Widget')
    return definition({ ...widget!, ...this.one([{}, { kind: 'Gizmo', resource: 'gizmos' }]) })
  }

  #ordinary(): Json {
    const namespace = this.chance(0.03) ? 'nowhere' : this.one(NAMESPACES)
    return objectOf(this.one(this.#kinds), namespace, this.one(['standing', 'standing', 'a', 'b']))
  }

  #granting(rbac: readonly Json[]): Json {
    if (this.chance(0.5)) return this.#changed(this.one(rbac) as JsonMap)
    const namespace = this.one(['', ...NAMESPACES])
    if (this.chance(0.5)) {
      return binding(namespace, 'written', this.roleRef(namespace, ROLES), ...this.some(this.subjects(namespace), 2))
    }
    const more = namespace === '' && this.chance(0.2) ? this.#aggregating() : {}
    const held = (this.one(rbac) as JsonMap).rules as Json[] | undefined
    const few = (held ?? []).filter(rule => namespace === '' || !('nonResourceURLs' in (rule as JsonMap))).slice(0, 1)
    return role(namespace, this.one(ROLE_NAMES.slice(4)), this.chance(0.7) ? few : this.rules(namespace === ''), more)
  }

  #aggregating(): JsonMap {
    return { aggregationRule: { clusterRoleSelectors: this.selectors() } }
  }

  /** A standing role or binding as it is, or written again with a difference. */
  #changed(object: JsonMap): Json {
    const metadata = metadataOf(object)
    const { labels, ...unlabelled } = metadata
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a' }
    const edits: JsonMap[] = [
      {},
      {},
      { metadata: { ...metadata, labels: { ...(labels as JsonMap), team: 'a' } } },
      { metadata: { ...metadata, annotations: { team: 'a' } } },
      { metadata: { ...metadata, finalizers: ['example.com/wait'] } },
      { metadata: { ...metadata, ownerReferences: [owner] } },
      { metadata: labels === undefined ? { ...metadata, labels: {} } : unlabelled },
      ...('rules' in object ? this.#changedRules(object) : this.#changedBinding(object)),
    ]
    return { ...object, ...this.one(edits) }
  }

  #changedRules({ kind, rules, aggregationRule }: JsonMap): JsonMap[] {
    const list = rules as JsonMap[]
    const paths = kind === 'ClusterRole'
    return [
      { rules: list.toReversed() },
      { rules: list.slice(1) },
      { rules: [...list, this.rule(paths)] },
      { rules: list.map(rule => ({ ...rule, verbs: (rule.verbs as Json[]).toReversed() })) },
      {
        rules: list.map(rule =>
          'resourceNames' in rule || 'nonResourceURLs' in rule ? rule : { ...rule, resourceNames: [] },
        ),
      },
      ...(paths ? [this.#aggregating(), { aggregationRule: null }, { aggregationRule: aggregationRule ?? null }] : []),
    ]
  }

  #changedBinding({ metadata, roleRef, subjects }: JsonMap): JsonMap[] {
    const list = subjects as JsonMap[]
    const namespace = String((metadata as JsonMap).namespace ?? '')
    const other = binding(namespace, 'other', this.roleRef(namespace, ROLES), this.one(this.subjects(namespace)))
    const fresh = other as JsonMap
    const { apiGroup: _, ...short } = roleRef as JsonMap
    return [
      { roleRef: fresh.roleRef! },
      { roleRef: short },
      { subjects: [...list, ...(fresh.subjects as Json[])] },
      { subjects: list.slice(1) },
      { subjects: null },
      { subjects: list.map(({ apiGroup, ...subject }) => subject) },
      { subjects: list.map(subject => (subject.kind === 'ServiceAccount' ? { ...subject, apiGroup: '' } : subject)) },
    ]
  }
}
