import { commandError } from '../../src/command/command-error.ts'
import { parseRotate, ROTATE_USAGE } from '../../src/credentials/parse-rotate.ts'
import { isSealedBy } from '../../src/credentials/rotation-record.ts'
import { rotationStateText } from '../../src/credentials/rotation-text.ts'
import { finishRotation } from '../rotation/finish-rotation.ts'
import { readTenantKey } from '../rotation/read-tenant-key.ts'
import { rotationPulls } from '../rotation/rotation-pulls.ts'
import type { RotationQuestion } from '../rotation/rotation-question.ts'
import { startRotation } from '../rotation/start-rotation.ts'
import type { BailiwickCommand } from './command-context.ts'
import { decidesHere } from './fleets-here.ts'

/**
 * Replaces the deploy key of a tenant: new key, pull request, merge, old key. How far it is, is read from GitHub each time, so
 * that the same command goes on wherever it was interrupted.
 */
export const rotateKey: BailiwickCommand = {
  name: 'rotate-key',
  decision: 'rotation',
  usage: ROTATE_USAGE,
  summary:
    'replace the deploy key of a tenant by a pull request; --ready: the clusters read with the new key (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This key cannot be rotated',
  run: async ({ context, place, reader, installation, repository: fleet, comment, line }) => {
    const { tenant, isReady } = parseRotate(line.words)
    const question = { context, place, reader, installation, fleet, tenant, by: comment.author.login }
    const reply = await context.queue.withLock(`rotate-key ${fleet.id} ${tenant}`, () => rotate(question, isReady))
    return { reaction: 'rocket', ...(reply === undefined ? {} : { reply }) }
  },
}

/** Answers with how far a rotation is that was merged; undefined where a pull request tells. */
async function rotate(question: RotationQuestion, isReady: boolean): Promise<string | undefined> {
  const present = await readTenantKey(question)
  const pulls = await rotationPulls(question)
  const open = pulls.find(({ pull }) => pull.state === 'open')
  // a branch can come to the fleet without its pull request
  const merged = pulls.find(({ pull, record }) => pull.state !== 'open' && isSealedBy(record, present.content))
  if (merged) {
    const state = await finishRotation(question, merged, isReady)
    const isOver = state.state === 'complete' || state.state === 'revoked'
    if (!isOver || isReady) return rotationStateText(question.tenant, state)
  }
  if (isReady) {
    throw commandError(
      open ? `#${open.pull.number} is not merged` : `no key of tenant ${question.tenant} is being rotated`,
      open ? 'Merge it first.' : `Write: /bailiwick rotate-key ${question.tenant}`,
    )
  }
  await startRotation(question, present, open)
  return undefined
}
