import type { Json } from '../kube/node.ts'
import { display, groupOf, type ObjectId } from '../kube/object.ts'
import type { ClusterClient } from './client.ts'
import { ClusterError } from './cluster-error.ts'
import { stringAt } from './json-at.ts'

interface Target {
  /** Who would write it. */
  readonly user: string
  readonly id: ObjectId
  /** As it would be applied; absent where it would be deleted. */
  readonly object?: Json
}

const TOKEN = 'kubernetes.io/service-account-token'
const TOKEN_OF = 'kubernetes.io/service-account.name'
/** By what all views of one connection share. */
const identities = new WeakMap<ClusterClient['discovery'], Promise<string>>()

/**
 * Why a target is the worker itself, which nothing may change; undefined: it is not. Its namespace with everything in it,
 * its service account with that account's tokens, and whatever would be written as one of these accounts: whoever could
 * change them would decide what is applied as everybody else.
 */
export async function ownTargetReason(
  client: ClusterClient,
  { user, id, object }: Target,
): Promise<string | undefined> {
  const { namespace } = client
  if (accountNamespace(user) === namespace) return `${user}: an account of the worker's own namespace applies nothing`
  if (id.namespace === namespace || isNamespace(id, namespace)) {
    return `${display(id)}: ${namespace} is the worker's own namespace`
  }
  const identity = await ownIdentity(client)
  if (user === identity) return `${user}: the worker's own identity applies nothing`
  const account = accountOf(identity)
  if (!account || id.namespace !== account.namespace || !namesAccount(id, object, account.name)) return undefined
  return `${display(id)}: ${identity} is the worker's own identity`
}

function isNamespace({ apiVersion, kind, name }: ObjectId, namespace: string): boolean {
  return groupOf(apiVersion) === '' && kind === 'Namespace' && name === namespace
}

/** The account itself, or a Secret that the token controller would fill in for it. */
function namesAccount(id: ObjectId, object: Json | undefined, account: string): boolean {
  if (groupOf(id.apiVersion) !== '') return false
  if (id.kind === 'ServiceAccount') return id.name === account
  if (id.kind !== 'Secret' || object === undefined) return false
  return stringAt(object, 'type') === TOKEN && stringAt(object, 'metadata', 'annotations', TOKEN_OF) === account
}

function accountOf(user: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  return namespace && name ? { namespace, name } : undefined
}

/** The namespace that an account of Kubernetes, or a reconciler user of Flux, belongs to. */
function accountNamespace(user: string): string | undefined {
  return accountOf(user)?.namespace ?? /^gotk:([^:]+):[^:]+$/.exec(user)?.[1]
}

/** Who the API server takes the worker for, or whose credentials the client has; '' where it does not say. Asked once. */
export function ownIdentity(client: ClusterClient): Promise<string> {
  const known = identities.get(client.discovery)
  if (known) return known
  const asked = review(client)
  identities.set(client.discovery, asked)
  asked.catch(() => identities.delete(client.discovery))
  return asked
}

async function review(client: ClusterClient): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  try {
    const answer = await client.request('worker', 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body })
    // before Kubernetes 1.28 there is no such question
    return answer.status === 404 ? '' : stringAt(answer.body, 'status', 'userInfo', 'username')
  } catch (error) {
    if (error instanceof ClusterError && error.status === 403) return ''
    throw error
  }
}
