import { isSealedBy, type RotationRecord } from '../../src/credentials/rotation-record.ts'
import { type RotationState, rotationStateText } from '../../src/credentials/rotation-text.ts'
import { upsertComment } from '../../src/github/comments/comment.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/keys/deploy-keys.ts'
import type { OwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { addNewKey, keyRepository, removeKeys } from './change-keys.ts'
import type { RotationPull } from './rotation-pulls.ts'
import type { RotationPlace } from './rotation-question.ts'
import { waitsOf } from './waits-of.ts'

const MARKER = '<!-- bailiwick:rotation-state -->'

/**
 * Goes on with a rotation whose pull request is merged: the new key is active, and the old keys go when the clusters read
 * with the new one, or `isReady`: a fleet admin says so. Done again, it does nothing. Says on the pull request how far it is.
 */
export async function finishRotation(
  place: RotationPlace,
  { pull, record }: RotationPull,
  isReady: boolean,
): Promise<RotationState> {
  const state = await advance(place, pull, record, isReady)
  if (state.state === 'complete' || state.state === 'overtaken') return state
  const { octokit, app } = place.place
  const body = rotationStateText(record.tenant, state)
  await upsertComment(octokit, app, place.place, { number: pull.number, marker: MARKER, body })
  return state
}

async function advance(
  place: RotationPlace,
  pull: OwnPull,
  record: RotationRecord,
  isReady: boolean,
): Promise<RotationState> {
  if (!(await isPresent(place, record))) return { state: 'overtaken' }
  const repository = await keyRepository(place, record.repository)
  if (!repository) return { state: 'waiting', waits: ['the App can read the repository of the tenant again'] }
  const keys = await listDeployKeys(place.reader, repository)
  const old = keys.filter(({ key }) => record.replaces.includes(key))
  const added = keys.find(({ key, readOnly }) => key === record.key && readOnly)
  if (!added && old.length === 0) return { state: 'revoked' }
  if (added && old.length === 0) return { state: 'complete' }
  if (!(await place.context.app.mayAdminister(place.installation.id))) {
    return { state: 'waiting', waits: ['the App has the permission `Administration: write` again'] }
  }
  if (!added && !(await addNewKey(place, repository, record, `rotated in #${pull.number}`))) {
    return { state: 'waiting', waits: ['GitHub accepts the new deploy key again'] }
  }
  // the word of an admin about a key that was gone until now says nothing
  const waits = added && isReady ? [] : await waitsFor(place, pull, record, added)
  if (waits.length > 0) return { state: 'waiting', waits }
  await removeKeys(place, { ...repository, id: record.repository }, record.replaces)
  return { state: 'finished', removed: old.length }
}

/** Whether the file of a record is what the fleet's branch has now. */
export async function isPresent(
  { installation, fleet }: Pick<RotationPlace, 'installation' | 'fleet'>,
  record: RotationRecord,
): Promise<boolean> {
  const bytes = await installation.file(fleet, record.file)
  return bytes !== undefined && isSealedBy(record, Buffer.from(bytes).toString('utf8'))
}

async function waitsFor(
  place: RotationPlace,
  pull: OwnPull,
  record: RotationRecord,
  added: ListedDeployKey | undefined,
): Promise<string[]> {
  const waits = await waitsOf(place, pull, record.clusters)
  // an apply of the Secret is not yet a source that reads with it; older servers do not say
  if (!added || added.lastUsed === null) waits.push('GitHub shows that the new key was used')
  return waits
}
