import { accountOf, kubeConfigOf } from '../fleet/model/appliers.ts'
import type { FleetNode, Lockdown } from '../fleet/model/fleet.ts'
import { HELM_RELEASE } from '../flux/kinds.ts'
import { isSubdomain } from '../kube/names.ts'
import { stringAt } from '../kube/node.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import {
  type AccountRequest,
  apiPlaceOf,
  applyRequests,
  type CustomKinds,
  forceRequests,
  healthCheckRequests,
  healthRequests,
  type WithoutRight,
  waits,
} from '../kube/rbac/apply-requests.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { confirmWrite } from '../kube/rbac/confirm-write.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import { readBinding } from '../kube/rbac/read-binding.ts'
import type { ResourceRequest, UserInfo } from '../kube/rbac/request.ts'
import { kindOf } from './kind-of.ts'

/** A request about an object that the API server refuses, as far as roles and bindings are visible. */
export interface RightRefusal {
  readonly object: KubeObject
  /** As whom it is sent: the account of the node, or that of a HelmRelease. */
  readonly user: string
  readonly request: ResourceRequest
  /** What happens then; `escalation` and `missing-role`: a role or binding that grants more than the user holds, or a missing role. */
  readonly without: WithoutRight | 'escalation' | 'missing-role'
  /** The API server's own words. */
  readonly message: string
}

/**
 * Every request of a node that is refused, in the order of its objects: what applying each of them asks for as a new object,
 * what its health checks list, and what Helm asks for as the account of a HelmRelease. A kind that the cluster does not
 * define is left to the rules about kinds.
 */
export function applyRefusals(
  { identity, tenant, kustomization, objects }: FleetNode,
  authorizer: Authorizer,
  custom: CustomKinds,
  lockdown: Lockdown | undefined,
): RightRefusal[] {
  const user = userInfo(identity.user)
  const isWaiting = waits(kustomization)
  const refused: RightRefusal[] = []
  for (const object of objects) {
    const id = idOf(object)
    const place = apiPlaceOf(id, custom)
    if ('problem' in place) continue
    const health = isWaiting ? healthRequests(id, place.namespace) : []
    const forced = forceRequests(kustomization, object, place)
    ask(authorizer, user, object, [...applyRequests(id, place, 'add'), ...health, ...forced], refused)
    // what a tenant grants is another rule's; only a Role of the same stage may be missing
    const isGrant = tenant === undefined || readBinding(object)?.roleRef.kind === 'Role'
    const { reason, message } = (isGrant && confirmWrite(authorizer, user, object)) || {}
    if (message !== undefined && (reason === 'escalation' || reason === 'missing-role')) {
      const request = { verb: 'patch', ...place, name: id.name }
      refused.push({ object, user: user.name, request, without: reason, message })
    }
    if (kindOf(object) === HELM_RELEASE) askRelease(authorizer, object, lockdown, refused)
  }
  ask(authorizer, user, kustomization, healthCheckRequests(kustomization, custom).requests, refused)
  return refused
}

/** The requests by which Flux would prune an object as the account of a node, as far as they are refused. */
export function pruneRefusals(
  { identity }: FleetNode,
  object: KubeObject,
  authorizer: Authorizer,
  custom: CustomKinds,
): RightRefusal[] {
  const id = idOf(object)
  const place = apiPlaceOf(id, custom)
  const refused: RightRefusal[] = []
  const requests = 'problem' in place ? [] : applyRequests(id, place, 'remove')
  ask(authorizer, userInfo(identity.user), object, requests, refused)
  return refused
}

function ask(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  requests: readonly AccountRequest[],
  refused: RightRefusal[],
): void {
  for (const { request, without } of requests) {
    if (without === 'no-effect' || authorizer.allows(user, request)) continue
    const decision = authorizer.authorize(user, request)
    if (!decision.allowed) refused.push({ object, user: user.name, request, without, message: decision.message })
  }
}

/**
 * Helm keeps each revision of a release in a Secret of `spec.storageNamespace`, by default that of the HelmRelease, and
 * reads and writes it as the account of the HelmRelease (helm.sh/helm/v4 pkg/storage/driver/secrets.go).
 */
function askRelease(
  authorizer: Authorizer,
  release: KubeObject,
  lockdown: Lockdown | undefined,
  refused: RightRefusal[],
): void {
  const account = accountOf(release, lockdown)
  const { namespace, name } = idOf(release)
  // the account of its own cluster says nothing about another one
  if (account === undefined || !isSubdomain(account) || kubeConfigOf(release)) return
  const text = (field: string) => stringAt(release.root, ['spec', field]) || undefined
  const target = text('targetNamespace')
  const revision = `sh.helm.release.v1.${text('releaseName') ?? (target ? `${target}-${name}` : name)}.v1`
  const secrets = { apiGroup: '', resource: 'secrets', namespace: text('storageNamespace') ?? namespace }
  const requests = [
    { verb: 'list', ...secrets, name: '' },
    { verb: 'create', ...secrets, name: '' },
    { verb: 'update', ...secrets, name: revision },
  ]
  const about = display(idOf(release))
  const asked = requests.map(request => ({ request, without: 'not-applied' as const, about }))
  ask(authorizer, userInfo(userOfAccount(namespace, account)), release, asked, refused)
}
