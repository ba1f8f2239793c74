import { hashOf } from '../../facts/fingerprint.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import { unknownRole } from '../../facts/unseen-grants.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../../fleet/model/appliers.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { KUBECONFIG_FIELD, KUSTOMIZATION } from '../../flux/kinds.ts'
import { type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { type Binding, type BoundSubject, RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { accountOf as accountOfUser, userInfo, userOfAccount } from '../../kube/rbac/groups-of.ts'
import type { PolicyRule } from '../../kube/rbac/policy-rule.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import type { ResourceRequest } from '../../kube/rbac/request.ts'
import { ruleAllows } from '../../kube/rbac/rule-allows.ts'
import { message, part } from '../../message/message.ts'
import { serverWords } from '../model/api-refusal.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'

/** What Capsule's document for Flux has the platform give to the account that owns a Tenant, where its addon does not. */
export const capsuleAccountRights: Rule = {
  id: 'capsule-account-rights',
  severity: 'high',
  title: 'Tenant owner without the rights that Flux needs',
  why: "Flux sends a tenant's requests to Capsule's proxy with the account's token and impersonates the same account. The proxy refuses every request if the account may not impersonate itself. Capsule binds owners only in the namespaces of the Tenant, not in the account's own namespace.",
  source: 'flux2-capsule-multi-tenancy: the recipe; capsule-proxy internal/request/http.go',
  docs: 'Bind the account in its own namespace, and let it impersonate its own user name. The names of the roles and bindings do not matter. With the annotation `capsule.addon.fluxcd/enabled: "true"` on the account, the addon makes both.',
  kinds: applierKinds,
  *checkObject({ node, object, kind, id: { namespace } }, context) {
    const { cluster, hub } = node
    const { index } = context
    const own = index.nodeOf(cluster, object)
    const name = accountOf(object, index.cluster(cluster)?.lockdown)
    if (name === undefined || own?.error || hub !== undefined || own?.hub !== undefined) return
    if (!index.capsuleHomes(cluster).get(namespace)?.includes(name)) return
    const user = userOfAccount(namespace, name)
    const of = { node: own ?? node, object, user }
    const self = { verb: 'impersonate', apiGroup: '', resource: 'users', namespace: '', name: user }
    // what goes through the proxy itself does not get there
    const isLater = node.identity.user === user && usesProxy(node.kustomization, name)
    if (usesProxy(object, name) && !isLater) yield* lacking(of, self, [...KUBECONFIG_FIELD], context)
    if (kind === KUSTOMIZATION && node.tenant === undefined) yield* lackingAtHome(of, context)
  },
}

/** What Flux acts by, and as which account. */
interface Acting {
  readonly node: FleetNode
  readonly object: KubeObject
  readonly user: string
}

const usesProxy = (object: KubeObject, account: string): boolean =>
  stringAt(kubeConfigOf(object), ['secretRef', 'name']) === `${account}-kubeconfig`

function* lackingAtHome(acting: Acting, context: RuleContext): Iterable<Violation> {
  const { node, object, user } = acting
  const { cluster } = node
  const { apiVersion, namespace, name } = idOf(object)
  const bound = (one: FleetIndex) => one.bindingsOf(cluster, user, namespace).filter(isOf(namespace))
  // a binding that is gone is the rule identity-object-tamper's
  if (bound(context.before ?? context.index).some(isGone(cluster, context.index))) return
  // what it applies there is asked object by object, where that is visible
  const isBound = bound(context.index).length > 0
  if (isBound && node.source.opaque === undefined) return
  const request = { verb: 'patch', apiGroup: groupOf(apiVersion), resource: 'kustomizations', namespace, name }
  for (const found of lacking(acting, request, ['metadata', 'name'], context))
    yield isBound ? { ...found, ...tooLittle(user, namespace) } : found
}

const tooLittle = (user: string, namespace: string): Pick<Violation, 'level' | 'message' | 'fix'> => ({
  level: 'warning',
  message: message`${part('identity', user)} owns a Capsule Tenant, but its RoleBindings in its own namespace do not let it apply Kustomizations there. What its repository applies is not visible.`,
  fix: message`Bind the account in ${quoted('object', namespace)} to a role that may patch Kustomizations, or check that its repository has none.`,
})

const isOf = (namespace: string) => (binding: Binding) => binding.namespace === namespace
const isGone = (cluster: string, index: FleetIndex) => (one: Binding) =>
  index.versionsOf(cluster, `${RBAC_GROUP}/${one.kind}`, one.namespace, one.name).length === 0

/** A request that no visible grant of the account allows. */
function* lacking(acting: Acting, request: ResourceRequest, path: Path, { index }: RuleContext): Iterable<Violation> {
  const { node, object, user: userName } = acting
  const { cluster } = node
  const answer = index.refusalOf(cluster, userName, request)
  if (answer === undefined) return
  const user = userInfo(userName)
  const bindings = index.bindingsOf(cluster, userName, request.namespace ?? '')
  const missing = bindings.filter(one => index.roleRules(cluster, one.roleRef, one.namespace) === undefined)
  // a role that the fleet does not render is what is missing
  const dangling = new Set(missing.map(unknownRole))
  if (index.unseenGrants(cluster, user, request).some(reason => !dangling.has(reason))) return
  const near = nearMiss(index, acting, request, missing[0])
  const isSelf = request.verb === 'impersonate'
  const { kind, namespace, name } = idOf(object)
  yield {
    node,
    object: near?.object ?? object,
    path: near?.path ?? path,
    value: `${request.verb} ${userName}`,
    cause: hashOf([request.verb, userName]),
    message: isSelf
      ? message`${objectPart(kind, namespace, name)} goes through Capsule's proxy, but ${part('identity', userName)} may not impersonate itself. Allowed: a ClusterRole with ${part('value', 'impersonate')} on its own user name. The proxy refuses every request: ${serverWords(answer)}.`
      : message`${part('identity', userName)} owns a Capsule Tenant, but no visible RoleBinding gives it rights in its own namespace. Allowed: a RoleBinding there. API server: ${serverWords(answer)}.`,
    fix: near
      ? message`Set ${part('field', near.path.join('.'))} to ${quoted('value', near.wanted)}.`
      : message`${isSelf ? message`Bind a ClusterRole with verb impersonate on users, limited to ${quoted('identity', userName)}` : message`Bind the account in ${quoted('object', namespace)}`}, or annotate the ServiceAccount with ${part('value', 'capsule.addon.fluxcd/enabled')}.`,
  }
}

/** A binding of the platform that would give the right but for the name of its role or of its subject. */
function nearMiss(index: FleetIndex, { node: { cluster }, user }: Acting, request: ResourceRequest, missing?: Binding) {
  const { namespace = '', verb } = request
  const kind = `${RBAC_GROUP}/${namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'}`
  // what allows it for every name, as cluster-admin, was not meant for the account alone
  const allows = (rule: PolicyRule) =>
    ruleAllows(rule, request) && (verb !== 'impersonate' || rule.resourceNames.length > 0)
  if (missing) {
    const object = index.platformObject(cluster, kind, missing.namespace, missing.name)
    const roles = index.platformAnywhere(cluster, `${RBAC_GROUP}/ClusterRole`).map(one => idOf(one.object).name)
    const wanted = roles.find(role => index.roleRules(cluster, { kind: 'ClusterRole', name: role }, '')?.some(allows))
    return object && wanted !== undefined ? { object, path: ['roleRef', 'name'] as Path, wanted } : undefined
  }
  const isNobody = ({ kind: of, namespace: home, name: account }: BoundSubject) =>
    of === 'ServiceAccount' && index.versionsOf(cluster, '/ServiceAccount', home, account).length === 0
  for (const { object } of index.platformRendered(cluster, kind, namespace)) {
    const binding = readBinding(object)
    const place = binding?.subjects.findIndex(isNobody) ?? -1
    if (!binding || place < 0 || !index.roleRules(cluster, binding.roleRef, binding.namespace)?.some(allows)) continue
    const own = accountOfUser(user)!
    const field = binding.subjects[place]!.name === own.name ? 'namespace' : 'name'
    return { object, path: ['subjects', place, field] as Path, wanted: own[field] }
  }
  return undefined
}
