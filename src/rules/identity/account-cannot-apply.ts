import { capital, listed, listedFew, type Message, message, part, untyped } from '../../base/message.ts'
import { isDeclaredAccount } from '../../fleet/config/declared-settings.ts'
import { hashOf, moveCause } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { unappliedText, unknownRole } from '../../fleet/facts/grants.ts'
import type { RightRefusal } from '../../fleet/facts/rights-index.ts'
import { objectPart, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { ACCOUNT_FIELD } from '../../kube/flux-kinds.ts'
import { canonical, originAt } from '../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { isNamespace, type WithoutRight } from '../../kube/rbac/apply-requests.ts'
import { type Binding, readBinding } from '../../kube/rbac/binding.ts'
import { accountOf, type ResourceRequest, userInfo } from '../../kube/rbac/policy-rule.ts'
import { lackingCause } from '../capsule/tenant-owners.ts'
import { type Rule, type RuleContext, Subject, serverWords, type Violation, type Wording } from '../model/rule.ts'
import { fluxMarks } from '../ownership/apply-marks.ts'
import { deletedObjects } from '../ownership/deletions.ts'
import {
  type AccountPlace,
  accountCause,
  bindingOrigin,
  lateGrants,
  lostCauses,
  lostSubject,
  ownBindings,
  rightsCause,
  rightsFix,
  rolesText,
  type UnappliedNames,
  unappliedNames,
  unboundAccount,
  unmadeAccounts,
} from './account-rights.ts'
import { lacksAccount } from './service-accounts.ts'

/** The API server must allow the account everything that Flux applies as it. */
export const accountCannotApply: Rule = {
  id: 'account-cannot-apply',
  severity: 'high',
  title: 'Object that its account may not apply',
  why: 'Flux applies the objects of a Kustomization or HelmRelease as its account. The API server refuses what the roles of the account do not allow. Flux then applies nothing of that stage. The status of Flux names only the first refused object.',
  source:
    'https://kubernetes.io/docs/reference/access-authn-authz/rbac/; https://fluxcd.io/flux/components/kustomize/kustomizations/#role-based-access-control',
  docs: 'Add the missing rights to a role of the account. A new object needs `patch` and `create`, an existing one `patch`. A role in the same Kustomization counts only after an earlier merge: Flux tries all objects of a stage first. It is a warning where the roles are not visible, for example where a bound role is not rendered. Operators may add rules to `admin`, `edit` and `view`. The account may already apply such objects without a visible role. Missing `get`, `list` and `delete` are warnings too. Bailiwick does not hold back an apply because of this rule: the API server gives the same answer.',
  *checkNode(node, context) {
    // the roles of another cluster are not visible
    if (!node.identity.impersonated || node.hub !== undefined || isUnknown(node)) return
    if (lacksAccount(Subject.ofNode(node), context)) return
    yield* unmadeAccounts(node, context)
    const unapplied = unappliedNames(node.cluster, context.index, context.before)
    const absent = [...unapplied.absent.keys()]
    const refused = refusedOf(node, context, [...absent, ...unapplied.unsure.keys()])
    const late = lateRefusals(node, context, refused, absent)
    if (refused.length === 0 && late.length === 0 && !context.before) return
    yield* late
    yield* answers(node, context, refused, unapplied)
    yield* notPruned(node, context)
  },
}

/** Whether nothing is known to be applied: Flux refuses all of it, or the flags that name a root's account are of an earlier build. */
const isUnknown = ({ error, holes = [], parent }: FleetNode): boolean =>
  error !== undefined && (holes.length === 0 || parent === undefined)

/** Refusals that matter for this change, and that no other rule reports. */
function refusedOf(node: FleetNode, context: RuleContext, without: readonly string[] = []): RightRefusal[] {
  return context.index.refusals(node.key, without).filter(one => isAsked(one, node, context))
}

const LEFT_ALONE = new Map([
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
  ['kustomize.toolkit.fluxcd.io/ssa', ['ignore']],
])
const IF_MISSING = new Map([['kustomize.toolkit.fluxcd.io/ssa', ['ifnotpresent']]])

function isAsked(refusal: RightRefusal, node: FleetNode, context: RuleContext): boolean {
  const { object, request, without } = refusal
  if (isOtherRules(refusal, node, context) || fluxMarks(object, LEFT_ALONE).length > 0) return false
  const was = earlier(object, node, context)
  if (was === undefined) return true
  if (without === 'escalation' || without === 'missing-role') return canonical(was.root) !== canonical(object.root)
  const isCreate = isCreation(refusal)
  const isApplied = isCreate || request.verb === 'patch'
  return !(isCreate || (isApplied && fluxMarks(object, IF_MISSING).length > 0))
}

/** Helm makes a Secret for each revision: that request is about another object. */
const isCreation = ({ request }: RightRefusal) => request.verb === 'create' && request.name !== ''

/** The object as the cluster has it before the change. */
const earlier = (object: KubeObject, node: FleetNode, context: Pick<RuleContext, 'before'>): KubeObject | undefined =>
  renderedBefore(object, node, context)?.object

function renderedBefore(object: KubeObject, { cluster }: FleetNode, { before }: Pick<RuleContext, 'before'>) {
  const { apiVersion, kind, namespace, name } = idOf(object)
  return before?.versionsOf(cluster, `${groupOf(apiVersion)}/${kind}`, namespace, name).at(-1)
}

/**
 * For a tenant, `cluster-scoped-forbidden`, `namespace-ownership`, `namespace-confinement` and `rbac-escalation` report
 * it; for a release without an account, `sa-required`.
 */
function isOtherRules(
  { object, user, request, without }: RightRefusal,
  node: FleetNode,
  context: RuleContext,
): boolean {
  const { index } = context
  const { tenant, cluster, identity } = node
  if (user !== identity.user && lacksAccount(new Subject({ node, object }), context)) return true
  if (tenant === undefined) return false
  if (without === 'escalation' || isNamespace(idOf(object))) return true
  return !index.owns(cluster, tenant, request.namespace ?? '') || index.grantRefusal(node, object) !== undefined
}

/** What is refused, by account and namespace: one edit fixes it. */
function* answers(
  node: FleetNode,
  context: RuleContext,
  refused: readonly RightRefusal[],
  { absent, unsure }: UnappliedNames,
): Iterable<Violation> {
  const certainly = unsure.size === 0 ? refused : refusedOf(node, context, [...absent.keys()])
  const isCertain = (one: RightRefusal) =>
    certainly.some(
      ({ object, without, message: text }) => object === one.object && without === one.without && text === one.message,
    )
  const groups = Map.groupBy(refused, ({ user, request }) => JSON.stringify([user, request.namespace ?? '']))
  const denied: { readonly place: AccountPlace; readonly certain: readonly RightRefusal[] }[] = []
  for (const group of groups.values()) {
    const unapplied = new Map([...absent, ...unsure])
    const place = { node, user: group[0]!.user, namespace: group[0]!.request.namespace ?? '', unapplied }
    if (lostAllRights(context, place)) continue
    const asked = group.map(refusal => ({
      refusal,
      reasons: [
        ...whyUnknown(context, place, refusal),
        ...(isCertain(refusal) ? [] : [...unsure].map(([name, why]) => unappliedText(name, why))),
      ],
    }))
    const certain = asked.filter(({ reasons }) => reasons.length === 0).map(({ refusal }) => refusal)
    denied.push({ place, certain })
    const unknown = asked.filter(({ reasons, refusal }) => reasons.length > 0 && isDeciding(refusal))
    if (unknown.length > 0) yield unknownRights(context, place, unknown)
    const failing = new Set(asked.flatMap(({ refusal }) => (isDeciding(refusal) ? [refusal.object] : [])))
    const applied = certain.filter(({ object }) => !failing.has(object))
    for (const [without, all] of Map.groupBy(applied, one => one.without)) {
      if (without in CONSEQUENCES) yield lesser(context, place, without as keyof typeof CONSEQUENCES, all)
    }
  }
  const without = denied.filter(({ certain }) => certain.some(isDeciding))
  for (const same of Map.groupBy(without, ({ place }) => rightsCause(context.index, place)).values()) {
    const alike = same.map(({ place }) => place.namespace)
    const requests = same.flatMap(({ certain }) => certain.map(({ request }) => request))
    for (const { place, certain } of same) yield* refusals(context, { ...place, alike }, certain, requests)
  }
}

/** Why it is not known whether it is refused; none if it is. */
function whyUnknown(
  { index, before, config }: RuleContext,
  place: AccountPlace,
  { object, request }: RightRefusal,
): string[] {
  const { node, user } = place
  const { cluster } = node
  const was = before && {
    right: before.refusalOf(cluster, user, request) === undefined,
    ofTenants: before.hasVisibleGrants(cluster),
  }
  const reasons = [
    ...index.unseenGrants(cluster, userInfo(user), request, was, object),
    ...(index.actsElsewhere(node.cluster, node.kustomization) ? ['its kubeConfig may lead to another cluster'] : []),
    ...(isDeclared({ index, config }, place) ? ['the fleet declares the account and renders no role of it'] : []),
  ]
  if (!before) return reasons
  // a certain refusal is the same finding as before; an object that was applied anyway goes on, as more becomes visible
  const old = renderedBefore(object, node, { before })
  // another account applied it so far
  const isOther = user === node.identity.user && user !== old?.node.identity.user
  const rendered = renderedRoles(index, before, cluster, user, request.namespace ?? '')
  const lives =
    old === undefined || isOther
      ? before.appliesUnseen(cluster, user, request)
      : before.refusalOf(cluster, user, request) !== undefined &&
        before.unseenGrants(cluster, userInfo(user), request, undefined, old.object).some(one => !rendered.has(one))
  return lives ? [...reasons, `the account already applies ${request.resource} there without a visible role`] : reasons
}

/** Why rights were unknown that are known now: Flux overwrites the cluster's role with the rendered one. */
function renderedRoles(index: FleetIndex, before: FleetIndex, cluster: string, user: string, namespace: string) {
  const rulesIn = (one: FleetIndex, { roleRef, namespace: of }: Binding) => one.roleRules(cluster, roleRef, of)
  const known = before.bindingsOf(cluster, user, namespace).filter(one => !rulesIn(before, one) && rulesIn(index, one))
  return new Set(known.map(unknownRole))
}

/** Whether the fleet's file declares that something on the cluster makes the account, and no role of it is visible. */
function isDeclared({ index, config }: Pick<RuleContext, 'index' | 'config'>, place: AccountPlace): boolean {
  const account = accountOf(place.user)
  const { cluster } = place.node
  if (!account || ownBindings(index, place).length > 0) return false
  const ofTenant = index.ownerOf(cluster, account.namespace) !== undefined
  return isDeclaredAccount(config, { cluster, ...account, ofTenant })
}

/** Whether the account lost all its roles: `prune-account-removed` reports it where the Kustomization prunes. */
function lostAllRights({ index, before }: RuleContext, place: AccountPlace): boolean {
  const { tenant, prune } = place.node
  if (tenant === undefined || !prune || !before) return false
  return ownBindings(before, place).length > 0 && ownBindings(index, place).length === 0
}

const isDeciding = ({ without }: RightRefusal) => !(without in CONSEQUENCES)

/** One finding per object that would not be applied, grouped by the role that lacks the rights. */
function* refusals(
  context: RuleContext,
  place: AccountPlace,
  certain: readonly RightRefusal[],
  requests: readonly ResourceRequest[],
): Iterable<Violation> {
  const { index } = context
  const deciding = certain.filter(isDeciding)
  // the rule capsule-account-rights reports what an owner of a Capsule Tenant lacks in its own namespace
  const isBound = ownBindings(index, place).some(({ namespace }) => namespace === place.namespace)
  const missing = isBound ? [] : ['patch', 'impersonate'].map(verb => lackingCause(verb, place.user))
  const move = moveCause(place.node.kustomization)
  const rights = rightsCause(index, place)
  for (const [object, all] of Map.groupBy(deciding, one => one.object)) {
    const [first] = all
    const unbound = unboundAccount(context, place, object)
    const isTaken = takesAway(context, place, first!)
    const isLost = isTaken && ownBindings(index, place).length === 0
    const origin = unbound?.origin ?? (isTaken ? removedGrant(context, place) : undefined)
    const value = `${place.user} ${first!.request.verb} ${first!.request.resource}`
    yield new Subject({ node: place.node, object }).violation(['metadata', 'name'], value, {
      ...(origin ? { origin } : {}),
      message: message`${whoOf(object)}: ${part('identity', place.user)} may not apply it. ${unbound?.text ?? rolesText(index, place)} Allowed: objects that its roles let it patch and create. The API server rejects this: ${serverWords(first!.message)}.`,
      fix:
        unbound?.fix ??
        missingRoleFix(first!) ??
        rightsFix(index, place, requests, (origin ?? object.root.origin).repository),
      cause: unbound ? accountCause(place.user, unbound.origin) : isLost ? hashOf([rights, place.namespace]) : rights,
      follows: [...(isTaken ? lostCauses(index, context.before, place) : []), ...(move ? [move] : []), ...missing],
      ...(unbound?.isRoot ? { severity: 'critical' as const } : {}),
      ...(all.every(isCreation) ? { isOfNew: true as const } : {}),
    })
  }
}

/** No right helps where the API server does not find the Role that a binding names. */
function missingRoleFix({ without, object }: RightRefusal): Message | undefined {
  const { roleRef, namespace } = (without === 'missing-role' && readBinding(object)) || {}
  return (
    roleRef &&
    message`Add ${objectPart(roleRef.kind, namespace ?? '', roleRef.name)}, or set roleRef to one that exists.`
  )
}

/** Whether a change removes the right of an account that applies the object already. */
function takesAway({ before }: RuleContext, { node, user }: AccountPlace, { object, request }: RightRefusal): boolean {
  if (before === undefined || earlier(object, node, { before }) === undefined) return false
  return before.refusalOf(node.cluster, user, request) === undefined
}

/** Where the change removes that right. */
const removedGrant = ({ index, before }: RuleContext, place: AccountPlace) =>
  lostSubject(index, before, place) ??
  bindingOrigin(index, place) ??
  originAt(place.node.kustomization.root, ACCOUNT_FIELD)

/** A warning about a Kustomization, shown at its first affected object, so that it stays the same as others are added. */
function warningAt(node: FleetNode, [first]: readonly KubeObject[], value: string, wording: Wording): Violation {
  const origin = originAt(first!.root, ['metadata', 'name'])
  return Subject.ofNode(node).violation(ACCOUNT_FIELD, value, { origin, level: 'warning', ...wording })
}

/** One warning where it is not visible whether the account has the right, whatever the objects are. */
function unknownRights(
  context: RuleContext,
  place: AccountPlace,
  unknown: readonly { readonly refusal: RightRefusal; readonly reasons: readonly string[] }[],
): Violation {
  const { index } = context
  const { node, user, namespace } = place
  const reasons = [...new Set(unknown.flatMap(one => one.reasons))]
  const objects = [...new Set(unknown.map(({ refusal }) => refusal.object))]
  const [{ refusal: first }] = unknown as [(typeof unknown)[0], ...typeof unknown]
  const unbound = unboundAccount(context, place, first.object)
  return warningAt(node, objects, `unknown ${user} ${namespace}`, {
    // an account without any role is one cause on every cluster
    cause: hashOf(['unknown', ...(unbound ? [accountCause(user, unbound.origin)] : reasons)]),
    message: message`${shownObjects(objects)}: it is unknown whether ${part('identity', user)} may apply ${objects.length === 1 ? 'it' : 'them'}. ${capital(listedFew(reasons.map(untyped), MAX_SHOWN, '; '))}. ${unbound?.text ?? rolesText(index, place)} The API server may reject this: ${serverWords(first.message)}.`,
    fix: unbound?.fix ?? message`Make these roles visible to Bailiwick, or add a role for the account to the fleet.`,
  })
}

const CONSEQUENCES = {
  rewritten: message`Flux then writes the objects at every reconcile, and replaces those with ${part('value', 'kustomize.toolkit.fluxcd.io/ssa: IfNotPresent')}`,
  'not-ready': message`The health check of Flux then fails at its timeout`,
  'not-pruned': message`Flux then keeps the objects and reports ${part('value', 'PruneFailed')}`,
  'not-recreated': message`Flux then fails to recreate an object whose immutable field changes, which ${part('value', 'force')} asks for`,
} satisfies Partial<Record<WithoutRight, Message>>

/** A missing right without which objects are still applied. */
function lesser(
  { index }: RuleContext,
  place: AccountPlace,
  without: keyof typeof CONSEQUENCES,
  all: readonly RightRefusal[],
): Violation {
  const { node, user, namespace } = place
  const objects = [...new Set(all.map(({ object }) => object))]
  const requests = all.map(({ request }) => request)
  const verbs = [...new Set(requests.map(({ verb }) => verb))].join(' or ')
  return warningAt(node, objects, `${without} ${user} ${namespace}`, {
    severity: 'low',
    message: message`${shownObjects(objects)}: ${part('identity', user)} may not ${untyped(verbs)} what Flux needs. ${CONSEQUENCES[without]}. The API server rejects this: ${serverWords(all[0]!.message)}.`,
    fix: rightsFix(index, place, requests, objects[0]!.root.origin.repository),
  })
}

const MAX_SHOWN = 3

const shownObjects = (objects: readonly KubeObject[]): Message => listedFew(objects.map(whoOf), MAX_SHOWN)

/** Objects that this change removes and the account may not delete. */
function* notPruned(node: FleetNode, context: RuleContext): Iterable<Violation> {
  const { index, before } = context
  if (!before || !node.prune || !before.node(node.key)) return
  const { cluster, tenant } = node
  const gone = deletedObjects(node, before.objectsOf(node.key), index).filter(object => {
    const id = idOf(object)
    const owns = (one: typeof index) => tenant === undefined || one.owns(cluster, tenant, id.namespace)
    // roles in a namespace that is removed are removed with it
    return owns(before) && owns(index) && !(tenant !== undefined && isNamespace(id))
  })
  const refused = gone.flatMap(object => index.pruneRefusals(node.key, object))
  const certain = refused.filter(one => index.unseenGrants(cluster, userInfo(one.user), one.request).length === 0)
  for (const all of Map.groupBy(certain, ({ request }) => request.namespace ?? '').values()) {
    const place = { node, user: all[0]!.user, namespace: all[0]!.request.namespace ?? '' }
    if (!lostAllRights(context, place)) yield lesser(context, place, 'not-pruned', all)
  }
}

/**
 * Requests that only late roles and bindings allow: Flux tries every object of a stage before it applies one, and a
 * Kustomization that waits for this one comes after it (fluxcd/pkg ssa manager_apply.go, ApplyAllStaged).
 */
function lateRefusals(
  node: FleetNode,
  context: RuleContext,
  refused: readonly RightRefusal[],
  absent: readonly string[],
): Violation[] {
  const { index, before } = context
  const late = before ? lateGrants(node, index, before) : []
  if (!before || late.length === 0) return []
  const known = Map.groupBy(refused, ({ object }) => object)
  const names = late.map(({ name }) => name)
  const only = refusedOf(node, context, [...absent, ...names]).filter(one => {
    // helm-controller acts after Flux has applied everything, and retries
    if (one.user !== node.identity.user) return false
    if (known.get(one.object)?.some(({ without }) => without === one.without)) return false
    if (one.without === 'missing-role') return earlier(one.object, node, context) === undefined
    return isDeciding(one) && before.refusalOf(node.cluster, one.user, one.request) !== undefined
  })
  return [...Map.groupBy(only, one => one.object)].map(([object, [first]]) => {
    const others = late.filter(one => one.name !== display(idOf(object)))
    const grants = listed((others.length > 0 ? others : late).slice(0, MAX_SHOWN).map(one => one.shown))
    const value = `late ${first!.user} ${first!.request.verb} ${first!.request.resource}`
    return new Subject({ node, object }).violation(['metadata', 'name'], value, {
      message: message`${whoOf(object)}: ${part('identity', first!.user)} gets the right to apply it too late, by ${grants}. Allowed: rights that exist before Flux applies this Kustomization. The API server rejects this: ${serverWords(first!.message)}.`,
      fix:
        others.length === 0
          ? message`Have ${grants} applied by an account that may write it.`
          : message`Merge ${grants} first, or move it to a Kustomization that does not wait for ${objectPart('Kustomization', node.namespace, node.name)}.`,
      cause: hashOf(['late', node.namespace, node.name, ...names]),
    })
  })
}
