import { isDeepStrictEqual } from 'node:util'
import { BailiwickError } from '../base/errors.ts'
import { SOURCE_GROUP } from '../kube/flux-kinds.ts'
import type { Json } from '../kube/node.ts'
import { display, groupOf, type ObjectId } from '../kube/object.ts'
import type { Actor, ClusterClient } from './client.ts'
import { ClusterError } from './cluster-error.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json.ts'

/** Throws `cluster-forbidden` for a target that is the worker itself (see ownTargetReason), before anything is sent to it. */
export async function refuseOwnTarget(
  client: ClusterClient,
  target: Parameters<typeof ownTargetReason>[1],
): Promise<void> {
  const reason = await ownTargetReason(client, target)
  if (reason === undefined) return
  throw new BailiwickError('cluster-forbidden', `${reason}. Allowed: targets other than the worker itself`, {
    fix: "Remove it from the fleet, and apply the worker's own manifests with kubectl.",
  })
}

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
 * Why a target is the worker itself, which nothing may change; undefined: it is not. Its namespace with everything in
 * it, its service account with that account's tokens, and whatever would be written as one of these accounts: a user
 * who can change them decides what is applied as every other account.
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

/** The user that the worker is to the API server, or that of the client's credentials; '' if unknown. Asked once. */
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
    // before Kubernetes 1.28 this API does not exist
    return answer.status === 404 ? '' : stringAt(answer.body, 'status', 'userInfo', 'username')
  } catch (error) {
    if (error instanceof ClusterError && error.status === 403) return ''
    throw error
  }
}

/** A source whose signature is checked by the cluster's source-controller. */
interface VerifiedSource {
  /** `<Kind>/<namespace>/<name>`. */
  readonly id: string
  /** Commit, or digest of the artifact, that was evaluated. */
  readonly commit: string
  /** JSON text of the `spec.verify` that was evaluated. */
  readonly verify: string
}

/**
 * Requires that source-controller verified the signature of exactly the evaluated content, as the evaluated
 * `spec.verify` requires: the worker has neither the keys nor the transparency log. Throws `cluster-invalid` where that
 * is not so, or not yet.
 */
export async function assertVerified(
  client: ClusterClient,
  actor: Actor,
  { id, commit, verify }: VerifiedSource,
  signal: AbortSignal,
): Promise<void> {
  const [kind = '', namespace = '', name = ''] = id.split('/')
  const resource = await client.discovery.findAnyVersion(`${SOURCE_GROUP}/v1`, kind)
  if (!resource) throw notVerified(id, `the cluster has no kind ${kind}`)
  const place = `namespaces/${encodeURIComponent(namespace)}/${resource.plural}/${encodeURIComponent(name)}`
  const { status, body } = await client.request(actor, 'GET', `/apis/${resource.apiVersion}/${place}`, { signal })
  if (status === 404) throw notVerified(id, 'the source is not on the cluster yet')
  if (stringAt(body, 'metadata', 'name') !== name) throw notVerified(id, 'the cluster did not answer with it')
  const why = whyNot(body, commit, verify)
  if (why !== undefined) throw notVerified(id, why)
}

function whyNot(source: Json, commit: string, verify: string): string | undefined {
  if (!isDeepStrictEqual(withDefaults(mapAt(source, 'spec', 'verify')), withDefaults(JSON.parse(verify)))) {
    return 'its spec.verify on the cluster is not the evaluated one'
  }
  const generation = jsonAt(source, 'metadata', 'generation')
  const verified = itemsAt(source, 'status', 'conditions').find(one => stringAt(one, 'type') === 'SourceVerified')
  const isCurrent = verified !== undefined && jsonAt(verified, 'observedGeneration') === generation
  if (!isCurrent || jsonAt(source, 'status', 'observedGeneration') !== generation)
    return 'source-controller has not verified it yet'
  if (stringAt(verified, 'status') !== 'True') return 'source-controller did not accept its signature'
  // `main@sha1:<commit>`, `v1@sha256:<digest>`, or without the part before the "@"
  const revision = stringAt(source, 'status', 'artifact', 'revision').split('@').at(-1) ?? ''
  if (revision === commit || revision === `sha1:${commit}`) return undefined
  return 'source-controller verified another revision than the evaluated one'
}

/** Defaults that the API server writes: the provider of an OCIRepository, the mode of a GitRepository. */
const withDefaults = (verify: Readonly<Record<string, unknown>>) => ({ provider: 'cosign', mode: 'HEAD', ...verify })

function notVerified(id: string, why: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `its source ${id} is not verified: ${why}`, {
    fix: `Look at the conditions of ${id} on the cluster. It is tried again.`,
  })
}
