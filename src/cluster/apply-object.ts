import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { ApplyRequest } from './apply-request.ts'
import type { ClusterClient } from './client.ts'
import type { ObjectDrift } from './drift-of.ts'
import { explainRefusal } from './explain-refusal.ts'
import { stringAt } from './json-at.ts'
import type { ObjectWrite, Prepared } from './prepared.ts'
import { METADATA_ONLY } from './read-live.ts'
import { serverSideApply } from './server-side-apply.ts'
import { FIELD_MANAGER } from './take-over-patch.ts'

const GONE_MS = 60_000
const POLL_MS = 200

/** `uid` only where the object is this owner's. */
export interface Applied {
  readonly action: 'created' | 'configured' | 'recreated' | 'unchanged' | 'skipped'
  readonly message?: string
  readonly uid?: string
  /** How it differed from what is applied. */
  readonly drift?: ObjectDrift
}

/** Sends what was prepared for one object, as the user. Throws what the API server says, see explainRefusal. */
export async function applyObject(
  client: ClusterClient,
  request: ApplyRequest,
  { id, isConfidential }: { readonly id: ObjectId; readonly isConfidential: boolean },
  prepared: Prepared,
): Promise<Applied> {
  if (!('write' in prepared)) return prepared
  const { write, ...planned } = prepared
  try {
    if (planned.action === 'recreated') await remove(client, request, id, write)
    if (write.takeOver !== undefined) await takeOver(client, request, write.path, write.takeOver)
    const { path, body, ownership } = write
    const rights = { force: ownership === 'ours', guest: ownership === 'shared' }
    const { user, signal } = request
    const applied = await serverSideApply(client, { user, path, body, ...rights, dryRun: false, signal })
    return outcome(planned, write, applied)
  } catch (error) {
    throw explainRefusal(error, { id, owner: request.owner, attempted: 'apply', isConfidential })
  }
}

function outcome(planned: Omit<Applied, 'uid'>, { ownership, resourceVersion }: ObjectWrite, applied: Json): Applied {
  const isSame = planned.action === 'configured' && stringAt(applied, 'metadata', 'resourceVersion') === resourceVersion
  const result = isSame ? { ...planned, action: 'unchanged' as const } : planned
  return ownership === 'shared' ? result : { ...result, uid: stringAt(applied, 'metadata', 'uid') }
}

async function takeOver(client: ClusterClient, request: ApplyRequest, path: string, body: Json): Promise<void> {
  await client.request({ user: request.user }, 'PATCH', path, {
    query: { fieldManager: FIELD_MANAGER },
    contentType: 'application/json-patch+json',
    accept: METADATA_ONLY,
    body,
    signal: request.signal,
  })
}

/** Deletes exactly what was read, and waits until it is gone. */
async function remove(
  client: ClusterClient,
  { user, signal, stageWaitMs = GONE_MS }: ApplyRequest,
  id: ObjectId,
  { path, uid }: ObjectWrite,
): Promise<void> {
  await client.request({ user }, 'DELETE', path, {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions: { uid } },
    signal,
  })
  for (const deadline = Date.now() + stageWaitMs; ; await sleep(POLL_MS)) {
    const { status, body } = await client.request({ user }, 'GET', path, { accept: METADATA_ONLY, signal })
    if (status === 404 || stringAt(body, 'metadata', 'uid') !== uid) return
    if (Date.now() > deadline) {
      throw new BailiwickError('cluster-invalid', `${display(id)} is deleted for \`force\`, but does not go away`, {
        fix: 'Look at its finalizers.',
      })
    }
  }
}
