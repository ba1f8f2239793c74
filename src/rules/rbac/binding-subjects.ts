import { hashOf } from '../../fleet/facts/fingerprint.ts'
import type { BoundSubject } from '../../kube/rbac/binding.ts'
import type { RuleContext } from '../model/rule.ts'

/** The identities that a subject of a binding stands for. */
type SubjectReach =
  /** Accounts of one namespace, all of them where no name is given. */
  | { readonly of: 'accounts'; readonly namespace: string; readonly name?: string }
  /** A group or user of Kubernetes itself, which accounts of any namespace or no one in particular belong to. */
  | { readonly of: 'everybody' }
  /** An identity that the cluster does not know: a person, or a group of people. */
  | { readonly of: 'people' }

const GROUP = 'system:serviceaccounts:'
/** The user that `flux create tenant` binds beside the account. */
const RECONCILER = /^gotk:([^:]+):reconciler$/

/** Source of the names: k8s.io/apiserver pkg/authentication/user and serviceaccount. */
export function reachOf({ kind, name, namespace }: BoundSubject): SubjectReach {
  if (kind === 'ServiceAccount') return { of: 'accounts', namespace, name }
  if (kind === 'Group') {
    if (name.startsWith(GROUP)) return { of: 'accounts', namespace: name.slice(GROUP.length) }
    return { of: name.startsWith('system:') ? 'everybody' : 'people' }
  }
  const reconciler = RECONCILER.exec(name)
  if (reconciler) return { of: 'accounts', namespace: reconciler[1]!, name }
  return { of: name === '*' || name === 'system:anonymous' ? 'everybody' : 'people' }
}

/** `ServiceAccount apps/dev-team`, `Group system:authenticated`: for messages and for the identity of a violation. */
export function subjectText({ kind, name, namespace }: BoundSubject): string {
  return namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`
}

/** The tenant of a namespace if the platform declares it, by a label or in the fleet's file. */
export function declaredOwner({ index, config }: RuleContext, cluster: string, namespace: string): string | undefined {
  const owner = index.ownerOf(cluster, namespace)
  if (owner === undefined) return undefined
  return config.tenants.get(owner)?.namespaces.includes(namespace) ? owner : index.declaredOwnerOf(cluster, namespace)
}

/** The tenant to whose declared namespaces the accounts belong that a subject stands for; undefined for anyone else. */
export function ownerOfSubject(context: RuleContext, cluster: string, bound: BoundSubject): string | undefined {
  const reach = reachOf(bound)
  return reach.of === 'accounts' ? declaredOwner(context, cluster, reach.namespace) : undefined
}

/** One binding is one cause, however many subjects and users it has. `binding`: as displayRbac writes it. */
export const bindingCause = (binding: string): string => hashOf(['binding', binding])
