import type { Json } from '../../../../src/kube/node.ts'
import type { AccessRequest, UserInfo } from '../../../../src/kube/rbac/policy-rule.ts'
import { binding, role } from './plain-object.ts'

/** Numbers in [0, 1) that follow from the seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const NAMESPACES = ['apps', 'other', 'shared']
const USERS = [
  'alice',
  'bob',
  'gotk:apps:reconciler',
  'system:serviceaccount:apps:dev',
  'system:serviceaccount:other:dev',
]
const ACCOUNTS = ['apps/dev', 'other/dev', 'apps/ci', 'shared/dev']
const GROUPS = ['ops', 'dev', 'system:serviceaccounts', 'system:serviceaccounts:apps', 'system:authenticated']
const VERBS = ['get', 'list', 'create', 'patch', 'delete', 'impersonate', 'Get', '*']
const API_GROUPS = ['', 'apps', 'batch', 'example.com', '*']
const RESOURCES = [
  'pods',
  'pods/log',
  'pods/*',
  '*/log',
  '*/scale',
  'deployments',
  'deployments/scale',
  'secrets',
  '*',
  '*/',
  'pods/',
]
const NAMES = ['a', 'b', 'web', '*', 'A']
const URLS = ['/healthz', '/healthz/*', '/metrics', '/api*', '/logs/**', '*', '/a/*/b', '/']
const PATHS = [
  '/healthz',
  '/healthz/',
  '/healthz/etcd',
  '/metrics',
  '/api',
  '/apis',
  '/logs/x',
  '/a/x/b',
  '/a/*/b',
  '/',
  '/version',
]
const LABELS = ['red', 'green', 'blue']

/** Draws roles, bindings and questions; the same seed draws the same. */
export class Draw {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seeded(seed)
  }

  chance(probability: number): boolean {
    return this.#next() < probability
  }

  one<T>(from: readonly T[]): T {
    return from[Math.floor(this.#next() * from.length)] as T
  }

  some<T>(from: readonly T[], most: number): T[] {
    const count = 1 + Math.floor(this.#next() * most)
    return [...new Set(Array.from({ length: count }, () => this.one(from)))]
  }

  rule(paths: boolean): Json {
    if (paths && this.chance(0.2)) return { verbs: this.some(VERBS, 2), nonResourceURLs: this.some(URLS, 3) }
    const rule = {
      verbs: this.some(VERBS, 3),
      apiGroups: this.some(API_GROUPS, 2),
      resources: this.some(RESOURCES, 3),
    }
    if (this.chance(0.25)) return { ...rule, resourceNames: this.some(NAMES, 2) }
    return this.chance(0.1) ? { ...rule, resourceNames: this.one([null, []]) } : rule
  }

  rules(paths: boolean): Json[] {
    return Array.from({ length: Math.floor(this.#next() * 4) }, () => this.rule(paths))
  }

  /** Roles `role-<n>` in every namespace and in the cluster, some of them aggregated. */
  roles(count: number): Json[] {
    const namespaced = NAMESPACES.flatMap(namespace =>
      Array.from({ length: count }, (_, at) => role(namespace, `role-${at}`, this.rules(false))),
    )
    const inCluster = Array.from({ length: 2 * count }, (_, at) => {
      // without circles: a role selects only colours that come after its own
      const colour = this.chance(0.5) ? Math.floor(this.#next() * LABELS.length) : -1
      const labels = colour < 0 ? {} : { [`aggregate/${LABELS[colour]}`]: this.one(['yes', 'no']) }
      const selected = [...LABELS.slice(colour + 1), 'none']
      const more = this.chance(0.25) ? { aggregationRule: { clusterRoleSelectors: this.selectors(selected) } } : {}
      return role('', `role-${at}`, this.rules(true), { metadata: { name: `role-${at}`, labels }, ...more })
    })
    return [...namespaced, ...inCluster]
  }

  selectors(colours: readonly string[] = LABELS): Json[] {
    return Array.from({ length: this.chance(0.3) ? 2 : 1 }, () => {
      const key = `aggregate/${this.one(colours)}`
      if (this.chance(0.6)) return { matchLabels: { [key]: this.one(['yes', 'no']) } }
      const operator = this.one(['In', 'Exists'])
      const values = operator === 'In' ? ['yes', 'never'] : []
      return { matchExpressions: [{ key, operator, values }] }
    })
  }

  roleRef(namespace: string, count: number): string {
    if (this.chance(0.05)) return this.one(['ClusterRole missing', ...(namespace ? ['Role missing'] : [])])
    if (this.chance(0.08)) return `ClusterRole ${this.one(['view', 'edit', 'admin'])}`
    const own = namespace !== '' && this.chance(0.5)
    return own
      ? `Role role-${Math.floor(this.#next() * count)}`
      : `ClusterRole role-${Math.floor(this.#next() * 2 * count)}`
  }

  bindings(count: number, roles: number): Json[] {
    return ['', ...NAMESPACES].flatMap(namespace =>
      Array.from({ length: count }, (_, at) =>
        binding(namespace, `binding-${at}`, this.roleRef(namespace, roles), ...this.some(this.subjects(namespace), 2)),
      ),
    )
  }

  subjects(namespace: string): string[] {
    const accounts = ACCOUNTS.map(path => `ServiceAccount ${path}`)
    const local = namespace ? ['ServiceAccount dev'] : []
    const groups = GROUPS.filter(group => namespace !== '' || !group.startsWith('system:authenticated'))
    return [...USERS.map(name => `User ${name}`), ...groups.map(name => `Group ${name}`), ...accounts, ...local]
  }

  user(): UserInfo {
    const name = this.chance(0.05) ? 'nobody' : this.one(USERS)
    return { name, groups: this.chance(0.6) ? this.some(GROUPS, 3) : this.chance(0.02) ? ['system:masters'] : [] }
  }

  request(): AccessRequest {
    const verb = this.one(VERBS)
    if (this.chance(0.15)) return { verb, nonResourceURL: this.one(PATHS) }
    const [resource = '', sub] = this.one(RESOURCES).split('/')
    return {
      verb,
      apiGroup: this.chance(0.5) ? '' : this.one(API_GROUPS),
      resource,
      subresource: sub ?? (this.chance(0.2) ? this.one(['log', 'scale', 'status', '*']) : ''),
      namespace: this.chance(0.75) ? this.one([...NAMESPACES, 'nowhere']) : '',
      name: this.chance(0.6) ? this.one([...NAMES, 'c']) : '',
    }
  }
}
