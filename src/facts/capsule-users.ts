import { at, isTrue, itemsOf, type Node, stringAt } from '../kube/node.ts'
import { accountOf } from '../kube/rbac/groups-of.ts'
import type { UserInfo } from '../kube/rbac/request.ts'
import { textsOf } from '../kube/read-text.ts'
import type { CapsuleSettings } from './capsule-settings.ts'

export type CapsuleSubject = { readonly kind: string; readonly name: string; readonly namespace?: string }

/** What the CapsuleConfigurations of a cluster say, as one. */
export interface CapsuleConfiguration {
  /** Whether the fleet shows one. */
  readonly isVisible: boolean
  /** Whose requests Capsule looks at, and who administers it: it lets all of them create Namespaces. */
  readonly users: readonly CapsuleSubject[]
  readonly administrators: readonly CapsuleSubject[]
  /** Groups whose members it does not look at. */
  readonly ignored: readonly string[]
  readonly forcesPrefix: boolean
  readonly roles: readonly [provisioner: string, deleter: string]
  /** What its administrators are bound to in the namespaces of every Tenant. */
  readonly administratorRoles: readonly string[]
}

export function readConfiguration(settings: readonly CapsuleSettings[]): CapsuleConfiguration {
  const parts = settings.map(({ rendered, path, ...one }) => ({ spec: at(rendered.object.root, path), ...one }))
  const texts = (field: string) => parts.flatMap(({ spec }) => textsOf(at(spec, [field])) ?? [])
  const list = (field: string) =>
    parts.flatMap(({ spec, hasUsers }) => (hasUsers ? itemsOf(at(spec, [field])).flatMap(subjectOf) : []))
  const named = (field: string) => parts.map(({ spec }) => stringAt(spec, ['rbac', field])).find(Boolean)
  const deleter = named('deleter') ?? 'capsule-namespace-deleter'
  const roles = parts
    .map(({ spec }) => textsOf(at(spec, ['rbac', 'administrationClusterRoles'])))
    .find(all => all?.length)
  const groups = parts.flatMap(({ spec, groups: field }) => textsOf(at(spec, [field])) ?? [])
  return {
    isVisible: settings.length > 0,
    users: [
      ...groups.map(name => ({ kind: 'Group', name })),
      ...texts('userNames').map(name => ({ kind: 'User', name })),
      ...list('users'),
    ],
    administrators: list('administrators'),
    ignored: texts('ignoreUserWithGroups'),
    forcesPrefix: parts.some(({ spec }) => isTrue(at(spec, ['forceTenantPrefix']))),
    roles: [named('provisioner') ?? 'capsule-namespace-provisioner', deleter],
    administratorRoles: roles ?? [deleter],
  }
}

function subjectOf(node: Node): CapsuleSubject[] {
  const [kind, name] = [stringAt(node, ['kind']), stringAt(node, ['name'])]
  return kind && name ? [{ kind, name }] : []
}

/** Undefined: Capsule does not look at the requests. */
export type CapsuleRole = 'administrator' | 'user' | undefined

/** As whom Capsule sees someone. */
export interface CapsuleUse {
  readonly role: CapsuleRole
  /** The administrator's entry, or the one because of which it does not look. */
  readonly by?: string
}

/** What makes someone a user of Capsule without an entry in its configuration. */
interface CapsuleOrigin {
  /** The account lives in a namespace of a Tenant. */
  readonly isMember?: boolean
  /** A TenantOwner names it. */
  readonly isAggregated?: boolean
}

/** As whom Capsule sees a user (pkg/users of Capsule). `version`: its minor version. */
export function capsuleUse(
  { users, administrators, ignored }: CapsuleConfiguration,
  { name, groups }: UserInfo,
  version: number,
  { isMember = false, isAggregated = false }: CapsuleOrigin = {},
): CapsuleUse {
  const is = (one: CapsuleSubject) => (one.kind === 'Group' ? groups.includes(one.name) : one.name === name)
  const passed = ignored.find(group => groups.includes(group))
  const ignoring = passed === undefined ? undefined : ({ role: undefined, by: passed } as const)
  if (ignoring && version >= 13) return ignoring
  const administrator = administrators.find(is)
  if (administrator) return { role: 'administrator', by: administrator.name }
  if (accountOf(name)?.namespace === 'kube-system') return { role: undefined }
  if (isMember || isAggregated) return { role: 'user' }
  // before 0.13 the first group decides, whatever the names say
  if (users.some(one => one.kind === 'Group' && is(one))) return ignoring ?? { role: 'user' }
  return { role: users.some(is) ? 'user' : undefined }
}
