import { BailiwickError } from '../../src/errors.ts'
import type { WriteTrail } from '../../src/queue/queue.ts'
import { TRAIL_BRANCH } from '../../src/trail/trail-files.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { openWriteClient } from '../publish/open-write-client.ts'
import { appendBatch } from '../trail/append-batch.ts'
import { keepStoppedHistory } from '../trail/keep-history.ts'
import { reportRefusedTrail, reportResumedTrail, reportStoppedTrail } from '../trail/report-stopped-trail.ts'

/**
 * Appends the waiting decisions of a fleet to its trail. If someone else changed the branch, adds nothing: opens an issue, logs
 * the reason, and keeps the decisions until the branch is restored.
 */
export async function writeTrail(context: WorkerContext, data: WriteTrail): Promise<void> {
  const { outbox, queue } = context
  if (outbox === undefined) return
  const subject = await openRepository(context, data)
  if (!subject) return
  const { repository, octokit: reader } = subject
  const { fleets } = await subject.installation.designation()
  if (!fleets.some(({ repository: { url } }) => url === repository.url)) return
  await queue.withLock(`trail ${repository.url}`, async () => {
    const writer = await openWriteClient(context, data.installation, repository.id)
    const there = { outbox, place: data, repositoryId: repository.id, writer }
    const appended = await appendBatch(context, { ...there, reader }).catch(refusal)
    if (appended instanceof BailiwickError) {
      context.log.error({ err: appended, repository: repository.url }, 'trail cannot be written')
      await reportRefusedTrail(context, there, appended.message)
      return
    }
    if (appended.state === 'stopped') {
      const message = `trail of ${data.owner}/${data.repo}: ${appended.why}. Nothing is added to it`
      const fix = `Restore the branch ${TRAIL_BRANCH}, and protect it against pushes.`
      context.log.error(
        { err: new BailiwickError('git-corrupt', message, { fix }), repository: repository.url },
        'trail was changed by someone else',
      )
      await keepStoppedHistory(context, { ...data, repositoryId: repository.id }, appended.why)
      await reportStoppedTrail(context, there, appended)
      return
    }
    await reportResumedTrail(context, there)
    if (appended.more) await queue.add('write-trail', data)
  })
}

/** GitHub's refusal is permanent, so the job is not retried; the next decision tries again. */
function refusal(error: unknown): BailiwickError {
  if (error instanceof BailiwickError && error.code === 'not-permitted') return error
  throw error
}
