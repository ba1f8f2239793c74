import {
  codeWord,
  listed,
  listedFew,
  type Message,
  type MessagePart,
  message,
  part,
  untyped,
} from '../../base/message.ts'
import { probably } from '../../base/name-list.ts'
import type { Origin } from '../../base/origin.ts'
import { isDeclaredAccount } from '../../fleet/config/declared-settings.ts'
import { hashOf, objectCause, placeText } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { unappliedText } from '../../fleet/facts/grants.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { isBlank, kubeConfigOf, meantOrigin, accountOf as namedAccount } from '../../fleet/model/kustomization-spec.ts'
import { CONTROLLER } from '../../fleet/tenancy/delegated.ts'
import { INSTALLED_ACCOUNTS, isMadeAccount } from '../../flux/installed-rbac.ts'
import { ACCOUNT_FIELD, HELM_RELEASE, ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { at, canonical, originAt } from '../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { type Binding, displayRbac, RBAC_GROUP, type RoleRef } from '../../kube/rbac/binding.ts'
import {
  accountOf,
  leastRules,
  type PolicyRule,
  type ResourceRequest,
  userOfAccount,
} from '../../kube/rbac/policy-rule.ts'
import { type RuleContext, Subject, type Violation } from '../model/rule.ts'

/** Where an account gets, or should get, its rights in a namespace ('': in the cluster). */
export interface AccountPlace {
  readonly node: FleetNode
  readonly user: string
  readonly namespace: string
  /** Roles and bindings that Flux does not apply, with the reason. */
  readonly unapplied?: ReadonlyMap<string, string>
  /** All namespaces in which the same edit gives it what it lacks. */
  readonly alike?: readonly string[]
}

const MAX_ROLES = 3

/**
 * Bindings for the account itself: those for every account, which the API server creates, and those that Flux does not
 * apply do not count.
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

/** The account's bindings and their roles that Flux does not apply: each as a sentence without a period. */
function unappliedOf(index: FleetIndex, place: AccountPlace): string[] {
  const { unapplied: names = new Map<string, string>() } = place
  const first = bindingsFor(index, place).flatMap(one => {
    const role = { ...one.roleRef, namespace: one.roleRef.kind === 'Role' ? one.namespace : '' }
    return [displayRbac(one), displayRbac(role)].find(name => names.has(name)) ?? []
  })
  return [...new Set(first)].map(name => unappliedText(name, names.get(name)!))
}

/** The account's roles and the bindings that give them, as one sentence. */
export function rolesText(index: FleetIndex, place: AccountPlace): Message {
  const own = ownBindings(index, place)
  const unapplied = unappliedOf(index, place).map(text => message` ${untyped(text)}.`)
  const without = unapplied.reduce((before, one) => message`${before}${one}`, message``)
  if (own.length === 0) return message`No visible binding gives the account a role there.${without}`
  const shown = own.map(binding => {
    const { kind, namespace, name, roleRef } = binding
    const role = objectPart(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name)
    const meant = index.meantRole(place.node.cluster, binding)
    const missing = meant === undefined ? message`` : message` (not found. Did you mean ${part('object', meant)}?)`
    return message`${role}${missing} through ${objectPart(kind, namespace, name)}`
  })
  return message`The account has ${listedFew(shown, MAX_ROLES)}.${without}`
}

/** Where a binding of the account names its role; undefined where the fleet renders none. */
export function bindingOrigin(index: FleetIndex, place: AccountPlace): Origin | undefined {
  const { binding } = editedRights(index, place)
  return binding && originAt(binding.root, ROLE_NAME)
}

/** The account's bindings that a change removes. */
function lostBindings(index: FleetIndex, before: FleetIndex | undefined, place: AccountPlace): Binding[] {
  const left = new Set(ownBindings(index, place).map(displayRbac))
  return before ? ownBindings(before, place).filter(one => !left.has(displayRbac(one))) : []
}

/** What happens to them: they are removed, or the API server refuses them now. */
export function lostCauses(index: FleetIndex, before: FleetIndex | undefined, place: AccountPlace): string[] {
  return lostBindings(index, before, place).map(objectCause)
}

/** Where a binding of the account that is still written now names other subjects. */
export function lostSubject(
  index: FleetIndex,
  before: FleetIndex | undefined,
  place: AccountPlace,
): Origin | undefined {
  const written = lostBindings(index, before, place).flatMap(one => writtenOf(index, place.node, one) ?? [])
  return written[0] && (written[0].root.fields.get('subjects')?.value.origin ?? written[0].root.origin)
}

/**
 * The smallest rights that allow these requests, as an edit of the account's role there, or as a separate role. A
 * reader of another repository than the role's can only request it. A tenant's cluster-wide rights must not grow: they
 * would apply in every namespace.
 */
export function rightsFix(
  index: FleetIndex,
  place: AccountPlace,
  requests: readonly ResourceRequest[],
  reader: string,
): Message {
  const { first, binding, role } = editedRights(index, place)
  const { alike = [], namespace } = place
  const asked = alike.length > 1 ? requests.map(one => ({ ...one, namespace })) : requests
  const rules = listed(
    [...leastRules(asked, new Set()).values()].flat().map(rule => message`${part('text', ruleText(rule))}`),
    ' and ',
  )
  const beside = role?.object ?? binding
  // without either, the place is where the platform declares the Kustomization
  const isReaders = (beside ?? declaringOf(index, place.node)).root.origin.repository === reader
  const meant = first && index.meantRole(place.node.cluster, first)
  if (meant !== undefined && binding) {
    const { file, line } = originAt(binding.root, ROLE_NAME)
    return message`${isReaders ? 'Set' : 'Ask a fleet admin to set'} ${codeWord('roleRef.name')} to ${quoted('object', meant)} at ${part('path', `${file}:${line}`)}.`
  }
  const ask = isReaders ? message`Add` : message`Ask a fleet admin to add`
  const to = beside ? message` (${positionOf(beside)})` : message``
  if (role) return message`${ask} to the rules of ${role.shown}${to}: ${rules}.`
  const where =
    place.namespace === ''
      ? message`a ClusterRole`
      : alike.length > 1
        ? message`a Role in each of the namespaces ${listed(alike.map(one => part('object', one)))}`
        : message`a Role in namespace ${part('object', place.namespace)}`
  const near =
    binding && first ? message`, beside ${objectPart(first.kind, first.namespace, first.name)}${to}` : message``
  return message`${ask} ${where}${near} with this rule, and bind ${part('identity', place.user)} to it: ${rules}.`
}

const ROLE_NAME = ['roleRef', 'name']

/** What an edit of an account's rights changes: the first of its roles that is written, or else of its bindings. */
function editedRights(index: FleetIndex, place: AccountPlace) {
  const all = ownBindings(index, place)
  const inside = all.filter(({ namespace }) => namespace === place.namespace)
  const own = inside.length > 0 || place.node.tenant !== undefined ? inside : all
  const roles = own.flatMap(({ namespace, roleRef: { kind, name } }) => {
    const of = kind === 'Role' ? namespace : ''
    const object = writtenOf(index, place.node, { kind, namespace: of, name })
    // the cluster overwrites the rules of an aggregated role
    const parts = kind === 'ClusterRole' ? index.gatheredBy(place.node.cluster, name) : undefined
    const ruled = object && parts ? gatheredRole(index, place.node, object, parts) : object
    return ruled ? [{ object: ruled, shown: objectPart(kind, of, idOf(ruled).name) }] : []
  })
  const first = own.find(one => writtenOf(index, place.node, one)) ?? own[0]
  return { first, binding: first && writtenOf(index, place.node, first), role: roles[0] }
}

/** A role whose rules an aggregated one gathers: of several, one in the same file. */
function gatheredRole(index: FleetIndex, node: FleetNode, { root }: KubeObject, parts: readonly string[]) {
  const own = parts.filter(name => !index.gatheredBy(node.cluster, name))
  const written = own.flatMap(name => writtenOf(index, node, { kind: 'ClusterRole', namespace: '', name }) ?? [])
  return written.find(one => one.root.origin.file === root.origin.file) ?? written[0]
}

/** What an account may not do is one cause, whatever it should apply: clusters and namespaces share it where they share the edit. */
export function rightsCause(index: FleetIndex, place: AccountPlace): string {
  const { binding, role } = editedRights(index, place)
  const edited = role ? role.object.root.origin : binding && originAt(binding.root, ROLE_NAME)
  return hashOf(['rights', place.user, place.namespace === '' ? 'cluster' : '', placeText(edited)])
}

/** The tenant's topmost Kustomization above a node: those below it are the tenant's. */
function declaringOf(index: FleetIndex, node: FleetNode): KubeObject {
  const parent = index.node(node.parent)
  return node.tenant !== undefined && parent?.tenant === node.tenant ? declaringOf(index, parent) : node.kustomization
}

/** The rule as one line of YAML, to be pasted into `rules`. */
function ruleText({ apiGroups, resources, resourceNames, verbs }: PolicyRule): string {
  const list = (values: readonly string[]) => `[${values.map(value => JSON.stringify(value)).join(', ')}]`
  const names = resourceNames.length > 0 ? `, resourceNames: ${list(resourceNames)}` : ''
  return `\`- {apiGroups: ${list(apiGroups)}, resources: ${list(resources)}${names}, verbs: ${list(verbs)}}\``
}

function positionOf({ root: { origin } }: KubeObject): Message {
  const repository = origin.repository === '' ? message`` : message`${part('repository', origin.repository)} `
  return message`${repository}${part('path', `${origin.file}:${origin.line}`)}`
}

function writtenOf(
  index: FleetIndex,
  { cluster }: FleetNode,
  { kind, namespace, name }: RoleRef & Pick<Binding, 'namespace'>,
): KubeObject | undefined {
  return index.versionsOf(cluster, `${RBAC_GROUP}/${kind}`, namespace, name).at(-1)?.object
}

/** An account to which no visible binding gives a role anywhere: the name is the cause, not the objects. */
interface UnboundAccount {
  /** Where the account is or would be named; undefined where that is as before the change. */
  readonly origin: Origin | undefined
  readonly text: Message
  /** Absent where no other account was probably meant. */
  readonly fix?: Message
  /** All of Flux on the cluster stops. */
  readonly isRoot: boolean
}

/** An account without a role is one cause at the place that names it. */
export const accountCause = (user: string, origin: Origin | undefined): string =>
  hashOf(['account', user, placeText(origin)])

/** What a message says about a refused object's account that has no role at all. */
export function unboundAccount(
  { index, before }: Pick<RuleContext, 'index' | 'before'>,
  { node, user }: AccountPlace,
  object: KubeObject,
): UnboundAccount | undefined {
  if (index.holdsRoles(node.cluster, user)) return undefined
  const isNodes = user === node.identity.user
  const applier = isNodes ? node.kustomization : object
  const isDefault = isBlank(at(applier.root, ACCOUNT_FIELD))
  const what = isDefault
    ? message`${whoOf(applier)} sets no ${codeWord('serviceAccountName')}, so Flux uses the default account. No visible binding gives that account a role.`
    : message`No visible binding gives the account a role.`
  const was = isNodes ? before?.node(node.key)?.identity.user : undefined
  const meant = meantAccount(
    index,
    node.cluster,
    user,
    isDefault ? (was && was !== user ? was : CONTROLLER.user) : undefined,
  )
  const origin = meantOrigin(applier, ACCOUNT_FIELD)
  const better = meant ?? onlyAccount(index, node.cluster, user, was)
  const isRoot = isNodes && node.parent === undefined
  return {
    origin: was === user ? undefined : origin,
    text: message`${what}${meant && !isDefault ? message` Did you mean ${quoted('object', meant)}?` : ''}${isRoot ? ' Flux then applies nothing on the cluster.' : ''}`,
    ...(better
      ? {
          fix: message`Set ${codeWord('serviceAccountName')} to ${quoted('object', better)} at ${part('path', `${origin.file}:${origin.line}`)}.`,
        }
      : {}),
    isRoot,
  }
}

/** The account with a role in the same namespace that was probably meant. `was`: one that existed, or should exist. */
function meantAccount(
  index: RuleContext['index'],
  cluster: string,
  user: string,
  was: string | undefined,
): string | undefined {
  const account = accountOf(user)
  if (account === undefined) return undefined
  const names = accountsWithRoles(index, cluster, account.namespace)
  const [only, ...others] = names
  if (was === undefined) return probably(account.name, names)
  return names.find(name => userOfAccount(account.namespace, name) === was) ?? (others.length === 0 ? only : undefined)
}

/** The account that was named before, or the only one with a role in the namespace, for one that the fleet does not render. */
function onlyAccount(
  index: RuleContext['index'],
  cluster: string,
  user: string,
  was: string | undefined,
): string | undefined {
  const account = accountOf(user)
  if (!account || index.versionsOf(cluster, '/ServiceAccount', account.namespace, account.name).length > 0)
    return undefined
  if (was !== undefined && index.holdsRoles(cluster, was)) return accountOf(was)?.name
  const [only, ...others] = accountsWithRoles(index, cluster, account.namespace)
  return others.length === 0 ? only : undefined
}

function accountsWithRoles(index: RuleContext['index'], cluster: string, namespace: string): string[] {
  const rendered = index.rendered(cluster, '/ServiceAccount', namespace).map(({ object }) => idOf(object).name)
  return [...rendered, ...(namespace === ROOT_NAMESPACE ? INSTALLED_ACCOUNTS : [])].filter(name =>
    index.holdsRoles(cluster, userOfAccount(namespace, name)),
  )
}

/**
 * Accounts that have a role and that nothing visible creates: a role needs no ServiceAccount, so Flux applies as the
 * account, but needs it to delete (finalizers of kustomize-controller and helm-controller).
 */
export function* unmadeAccounts(node: FleetNode, context: RuleContext): Iterable<Violation> {
  const { index, before, config } = context
  const { cluster, objects, kustomization, prune } = node
  const releases = objects.filter(object => kindOf(object) === HELM_RELEASE)
  for (const object of [...(prune ? [kustomization] : []), ...releases]) {
    const { kind, namespace, name } = idOf(object)
    const account = kubeConfigOf(object) ? undefined : namedAccount(object, index.cluster(cluster)?.lockdown)
    // Kubernetes creates `default` in every namespace
    if (!account || account === 'default' || isMadeAccount(namespace, account)) continue
    const isMade = (one: typeof index) => one.versionsOf(cluster, '/ServiceAccount', namespace, account).length > 0
    // the rule identity-object-tamper reports a removed account
    if (isMade(index) || (before && isMade(before))) continue
    const ofTenant = index.ownerOf(cluster, namespace) !== undefined
    if (isDeclaredAccount(config, { cluster, namespace, name: account, ofTenant })) continue
    if (!index.holdsRoles(cluster, userOfAccount(namespace, account))) continue
    yield new Subject({ node, object }).violation(ACCOUNT_FIELD, `unmade ${account}`, {
      level: 'warning',
      severity: 'low',
      cause: hashOf(['unmade', namespace, account]),
      message: message`${objectPart(kind, namespace, name)}: the fleet does not render service account ${quoted('object', account)}. Allowed: an account that the fleet renders, or lists under ${codeWord('accounts')} in ${codeWord('.github/bailiwick.yaml')}. Without the account, Flux deletes nothing when the ${part('value', kind)} is deleted.`,
      fix: message`Render ServiceAccount ${part('object', `${namespace}/${account}`)}, or set the field to an account that exists.`,
    })
  }
}

/** A role or binding of a change that the cluster gets only after a Kustomization is applied. */
interface LateGrant {
  /** As `display` writes it. */
  readonly name: string
  readonly shown: MessagePart
}

/** Flux applies and awaits ClusterRoles in a stage before everything else (fluxcd/pkg ssa utils/is.go). */
const LAST_STAGE = new Set(['Role', 'RoleBinding', 'ClusterRoleBinding'])

/**
 * The new or changed roles and bindings that take effect too late for a Kustomization: its own, and those of
 * Kustomizations that wait for it, by `dependsOn` or because it creates them.
 */
export function lateGrants(node: FleetNode, index: FleetIndex, before: FleetIndex): LateGrant[] {
  // `flux bootstrap` applies a new cluster's root before Flux does
  if (node.parent === undefined && before.cluster(node.cluster) === undefined) return []
  const isChanged = (object: KubeObject) => {
    const { apiVersion, kind, namespace, name } = idOf(object)
    const was = before.versionsOf(node.cluster, `${groupOf(apiVersion)}/${kind}`, namespace, name)
    return !was.some(one => one.object === object || canonical(one.object.root) === canonical(object.root))
  }
  const isGrant = ({ apiVersion, kind }: ReturnType<typeof idOf>) =>
    (LAST_STAGE.has(kind) || kind === 'ClusterRole') && groupOf(apiVersion) === RBAC_GROUP
  const waiting = waitingFor(node.key, index, before)
  const wasHere = [node.key, ...waiting].filter(key => before.node(key)?.cluster === node.cluster)
  const stood = new Set(wasHere.flatMap(key => before.objectsOf(key)))
  const fresh = (objects: readonly KubeObject[]) => objects.filter(object => !stood.has(object))
  const own = fresh(node.objects).filter(object => LAST_STAGE.has(idOf(object).kind) && isGrant(idOf(object)))
  const late = fresh(waiting.flatMap(key => index.objectsOf(key))).filter(object => isGrant(idOf(object)))
  return [...own, ...late].filter(isChanged).map(object => {
    const id = idOf(object)
    return { name: display(id), shown: objectPart(id.kind, id.namespace, id.name) }
  })
}

/** Kustomizations that are applied only after another one. An existing one does not wait for its parent. */
function waitingFor(key: string, index: FleetIndex, before: FleetIndex): readonly string[] {
  const waiting = new Set([key])
  // the set grows while it is walked
  for (const one of waiting) {
    const next = index.followers(one).filter(({ by, key: other }) => by === 'dependsOn' || !before.node(other))
    for (const { key: other } of next) waiting.add(other)
  }
  waiting.delete(key)
  return [...waiting]
}

/** Roles and bindings that Flux does not apply, as `display` writes them, with the reason. */
export interface UnappliedNames {
  /** The cluster does not have them. */
  readonly absent: ReadonlyMap<string, string>
  /** It is not known whether the cluster has them, from an earlier change or from elsewhere. */
  readonly unsure: ReadonlyMap<string, string>
}

/** The names on a cluster after a change. The cluster has what was applied before the change and is unchanged. */
export function unappliedNames(cluster: string, index: FleetIndex, before: FleetIndex | undefined): UnappliedNames {
  const [absent, unsure] = [new Map<string, string>(), new Map<string, string>()]
  const was = before?.unapplied(cluster)
  for (const [name, { object, why, goesOn }] of index.unapplied(cluster)) {
    const { apiVersion, kind, namespace, name: own } = idOf(object)
    const earlier = before?.versionsOf(cluster, `${groupOf(apiVersion)}/${kind}`, namespace, own) ?? []
    const isSame = earlier.some(one => canonical(one.object.root) === canonical(object.root))
    if (isSame && !was?.has(name)) continue
    const isNew = before !== undefined && earlier.length === 0 && before.node(goesOn) === undefined
    const names = isNew ? absent : unsure
    names.set(name, why)
  }
  return { absent, unsure }
}
