import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import { unappliedText } from '../../../facts/unapplied-grants.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { originAt } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { type Binding, displayRbac, RBAC_GROUP } from '../../../kube/rbac/binding.ts'
import { leastRules } from '../../../kube/rbac/least-rules.ts'
import type { PolicyRule } from '../../../kube/rbac/policy-rule.ts'
import type { ResourceRequest } from '../../../kube/rbac/request.ts'
import { codeWord, listed, type Message, message, part, untyped } from '../../../message/message.ts'
import type { Origin } from '../../../origin.ts'

/** Where an account gets, or should get, its rights in a namespace ('': in the cluster). */
export interface AccountPlace {
  readonly node: FleetNode
  readonly user: string
  readonly namespace: string
  /** Roles and bindings that Flux does not apply, with the reason. */
  readonly unapplied?: ReadonlyMap<string, string>
}

const MAX_ROLES = 3

/**
 * Bindings that are made for the account: those of every account, which the API server makes itself, do not matter here, and
 * those that Flux does not apply do not count.
 */
export function ownBindings(index: FleetIndex, place: AccountPlace): readonly Binding[] {
  const { unapplied } = place
  return unapplied
    ? bindingsFor(index, place).filter(one => !unapplied.has(displayRbac(one)))
    : bindingsFor(index, place)
}

function bindingsFor(index: FleetIndex, { node, user, namespace }: AccountPlace): readonly Binding[] {
  const all = index.bindingsOf(node.cluster, user, namespace)
  return all.filter(({ subjects }) => subjects.some(one => one.kind !== 'Group' || !/^system:[^:]+$/.test(one.name)))
}

/** The bindings of an account, and their roles, that Flux does not apply: each in a sentence without its period. */
function unappliedOf(index: FleetIndex, place: AccountPlace): string[] {
  const { unapplied: names = new Map<string, string>() } = place
  const first = bindingsFor(index, place).flatMap(one => {
    const role = { ...one.roleRef, namespace: one.roleRef.kind === 'Role' ? one.namespace : '' }
    return [displayRbac(one), displayRbac(role)].find(name => names.has(name)) ?? []
  })
  return [...new Set(first)].map(name => unappliedText(name, names.get(name)!))
}

/** Which roles the account has, through which bindings: one sentence. */
export function rolesText(index: FleetIndex, place: AccountPlace): Message {
  const own = ownBindings(index, place)
  const unapplied = unappliedOf(index, place).map(text => message` ${untyped(text)}.`)
  const without = unapplied.reduce((before, one) => message`${before}${one}`, message``)
  if (own.length === 0) return message`No visible binding gives the account a role there.${without}`
  const shown = own.slice(0, MAX_ROLES).map(binding => {
    const { kind, namespace, name, roleRef } = binding
    const role = objectPart(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name)
    const meant = index.meantRole(place.node.cluster, binding)
    const missing = meant === undefined ? message`` : message` (not found. Did you mean ${part('object', meant)}?)`
    return message`${role}${missing} through ${objectPart(kind, namespace, name)}`
  })
  const more = own.length > MAX_ROLES ? message` and ${own.length - MAX_ROLES} more` : message``
  return message`The account has ${listed(shown)}${more}.${without}`
}

/** Where the first binding of the account in the fleet states its role; undefined where the fleet renders none. */
export function bindingOrigin(index: FleetIndex, place: AccountPlace): Origin | undefined {
  const written = ownBindings(index, place).map(({ kind, namespace, name }) =>
    writtenOf(index, place.node, kind, namespace, name),
  )
  const found = written.find(one => one !== undefined)
  return found && (found.root.fields.get('roleRef')?.value.origin ?? found.root.origin)
}

/** The bindings that a change takes away from the account. */
function lostBindings(index: FleetIndex, before: FleetIndex | undefined, place: AccountPlace): Binding[] {
  const left = new Set(ownBindings(index, place).map(displayRbac))
  return before ? ownBindings(before, place).filter(one => !left.has(displayRbac(one))) : []
}

/** The first of them that is not written any more. */
export const lostBinding = (index: FleetIndex, before: FleetIndex | undefined, place: AccountPlace) =>
  lostBindings(index, before, place).find(
    ({ kind, namespace, name }) => !writtenOf(index, place.node, kind, namespace, name),
  )

/** Where a binding of the account that is still written names others now. */
export function lostSubject(
  index: FleetIndex,
  before: FleetIndex | undefined,
  place: AccountPlace,
): Origin | undefined {
  const written = lostBindings(index, before, place).flatMap(
    ({ kind, namespace, name }) => writtenOf(index, place.node, kind, namespace, name) ?? [],
  )
  return written[0] && (written[0].root.fields.get('subjects')?.value.origin ?? written[0].root.origin)
}

/**
 * The smallest rights that would allow these requests, as an edit of the role that the account has there, or as a role of its
 * own beside it. A reader of another repository than the role's can only ask for it. What a tenant holds in the whole cluster
 * is not to grow: it would have the right in every namespace.
 */
export function rightsFix(
  index: FleetIndex,
  place: AccountPlace,
  requests: readonly ResourceRequest[],
  reader: string,
): Message {
  const isTenants = place.node.tenant !== undefined
  const own = ownBindings(index, place).filter(one => !isTenants || one.namespace === place.namespace)
  const roles = own.flatMap(({ namespace, roleRef: { kind, name } }) => {
    const of = kind === 'Role' ? namespace : ''
    const object = writtenOf(index, place.node, kind, of, name)
    return object ? [{ object, shown: objectPart(kind, of, name) }] : []
  })
  const rules = listed(
    [...leastRules(requests, new Set()).values()].flat().map(rule => message`${part('text', ruleText(rule))}`),
    ' and ',
  )
  const [role] = roles
  const binding = own[0] && writtenOf(index, place.node, own[0].kind, own[0].namespace, own[0].name)
  const beside = role?.object ?? binding
  // without either, where the platform declares the Kustomization
  const isReaders = (beside ?? declaringOf(index, place.node)).root.origin.repository === reader
  const meant = own[0] && index.meantRole(place.node.cluster, own[0])
  if (meant !== undefined && binding) {
    const { file, line } = originAt(binding.root, ['roleRef', 'name'])
    return message`${isReaders ? 'Set' : 'Ask a fleet admin to set'} ${codeWord('roleRef.name')} to ${quoted('object', meant)} at ${part('path', file)}:${line}.`
  }
  const ask = isReaders ? message`Add` : message`Ask a fleet admin to add`
  const to = beside ? message` (${positionOf(beside)})` : message``
  if (role) return message`${ask} to the rules of ${role.shown}${to}: ${rules}.`
  const where =
    place.namespace === '' ? message`a ClusterRole` : message`a Role in namespace ${part('object', place.namespace)}`
  const near =
    binding && own[0] ? message`, beside ${objectPart(own[0].kind, own[0].namespace, own[0].name)}${to}` : message``
  return message`${ask} ${where}${near} with this rule, and bind ${part('identity', place.user)} to it: ${rules}.`
}

/** The first Kustomization of a tenant on the way to a node: those below it are the tenant's. */
function declaringOf(index: FleetIndex, node: FleetNode): KubeObject {
  const parent = index.node(node.parent)
  return node.tenant !== undefined && parent?.tenant === node.tenant ? declaringOf(index, parent) : node.kustomization
}

/** As one line of YAML, to be pasted into `rules`. */
function ruleText({ apiGroups, resources, resourceNames, verbs }: PolicyRule): string {
  const list = (values: readonly string[]) => `[${values.map(value => JSON.stringify(value)).join(', ')}]`
  const names = resourceNames.length > 0 ? `, resourceNames: ${list(resourceNames)}` : ''
  return `\`- {apiGroups: ${list(apiGroups)}, resources: ${list(resources)}${names}, verbs: ${list(verbs)}}\``
}

function positionOf({ root: { origin } }: KubeObject): Message {
  const repository = origin.repository === '' ? message`` : message`${part('repository', origin.repository)} `
  return message`${repository}${part('path', origin.file)}:${origin.line}`
}

function writtenOf(
  index: FleetIndex,
  { cluster }: FleetNode,
  kind: string,
  namespace: string,
  name: string,
): KubeObject | undefined {
  return index.versionsOf(cluster, `${RBAC_GROUP}/${kind}`, namespace, name).at(-1)?.object
}
