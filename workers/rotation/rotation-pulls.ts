import { type RotationRecord, readRotationMarker } from '../../src/credentials/rotation-record.ts'
import { readCommit } from '../../src/github/contents/read-commit.ts'
import { listAllOwnPulls } from '../../src/github/pulls/list-own-pulls.ts'
import type { OwnPull } from '../../src/github/pulls/read-own-pull.ts'
import type { RotationPlace, RotationQuestion } from './rotation-question.ts'

/** Branches from which keys are rotated; src/webhooks/pull-request.ts names them too. */
export const ROTATION_BRANCH = 'bailiwick/rotate-'

/** A pull request of ours that rotates a key. */
export interface RotationPull {
  readonly pull: OwnPull
  readonly record: RotationRecord
}

/** The rotations of a tenant that are open, merged or closed, the latest first. */
export async function rotationPulls(question: RotationQuestion): Promise<readonly RotationPull[]> {
  const { reader, place, tenant } = question
  const found = await listAllOwnPulls(reader, place.app, place, `${ROTATION_BRANCH}${tenant}-`)
  const all: RotationPull[] = []
  for (const pull of found) {
    const record = await rotationOf(question, pull)
    if (record?.tenant === tenant) all.push({ pull, record })
  }
  return all
}

/** What a pull request of ours rotates: by its last commit, or by its text where somebody added a commit. */
export async function rotationOf(
  { context, reader, place, fleet }: Omit<RotationPlace, 'installation'>,
  pull: OwnPull,
): Promise<RotationRecord | undefined> {
  const secret = context.config.privateKey
  const { message } = await readCommit(reader, place, pull.head)
  const record = readRotationMarker(message, secret) ?? readRotationMarker(pull.body, secret)
  return record?.fleet === fleet.id ? record : undefined
}
