import { createHash } from 'node:crypto'
import type { Json } from '../kube/node.ts'
import type { ObjectId } from '../kube/object.ts'
import type { ApplyRequest } from './apply-request.ts'
import type { ClusterClient } from './client.ts'
import { ClusterError } from './cluster-error.ts'
import { mapAt, stringAt } from './json-at.ts'
import type { Prepared } from './prepared.ts'
import { serverSideApply } from './server-side-apply.ts'

interface Refused {
  readonly path: string
  readonly live: Json
  /** With owner labels, without uid. */
  readonly desired: Json
  /** Of the dry run in place. */
  readonly error: unknown
}

/**
 * `force`: the object is to be deleted and created again, where what was refused is a change of an immutable field. Flux
 * takes any invalid object for that and deletes it first. Here both steps are tried without effect before: the deletion,
 * and the creation under a name of its own. Throws the refusal where one of them would fail.
 */
export async function recreationOf(
  client: ClusterClient,
  { user, signal }: ApplyRequest,
  id: ObjectId,
  { path, live, desired, error }: Refused,
): Promise<Prepared> {
  if (!(error instanceof ClusterError) || !isImmutable(error)) throw error
  const uid = stringAt(live, 'metadata', 'uid')
  const probe = `bailiwick-${createHash('sha256').update(uid).digest('hex').slice(0, 16)}`
  const body = { ...mapAt(desired), metadata: { ...mapAt(desired, 'metadata'), name: probe } }
  const probePath = `${path.slice(0, path.lastIndexOf('/'))}/${probe}`
  const wouldFail = (second: unknown) => {
    throw second instanceof ClusterError && second.status !== 401 ? notRecreated(error, second) : second
  }
  await serverSideApply(client, { user, path: probePath, body, force: false, dryRun: true, signal }).catch(second => {
    if (!isHeldByItself(second)) wouldFail(second)
  })
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], preconditions: { uid } }
  await client.request({ user }, 'DELETE', path, { body: options, signal }).catch(wouldFail)
  const resourceVersion = stringAt(live, 'metadata', 'resourceVersion')
  const message = `deleted and created again, as it has immutable fields: ${error.refusal.said}`
  return {
    action: 'recreated',
    // the message of a Secret may quote its value
    message: id.kind === 'Secret' ? 'deleted and created again, as it has immutable fields' : message,
    write: { path, body: desired, ownership: 'ours', uid, resourceVersion },
  }
}

/** As kubectl and Flux know it: an invalid change, or the words of an admission webhook or a CEL rule. */
function isImmutable({ refusal }: ClusterError): boolean {
  return refusal.status === 422 || /is\simmutable|immutable\sfield/.test(refusal.said)
}

/** An address, a port or a share of a quota, which the deletion sets free. */
function isHeldByItself(error: unknown): boolean {
  if (!(error instanceof ClusterError)) return false
  const { status, said, causes } = error.refusal
  if (status === 403) return said.includes('exceeded quota')
  return status === 422 && causes.length > 0 && causes.every(({ message }) => message.includes('already allocated'))
}

function notRecreated({ code, refusal }: ClusterError, second: ClusterError): ClusterError {
  const said = `${refusal.said}. It is not deleted for \`force\`, because creating it again would be refused too: ${second.refusal.said}`
  return new ClusterError(code, said, { ...refusal, said })
}
