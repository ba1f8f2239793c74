import { BailiwickError } from '../../src/errors.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/engine-version.ts'
import { DEFAULT_LIMITS } from '../../src/git/entry-limits.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { fetchBlobs } from '../../src/github/contents/fetch-blobs.ts'
import { listTree } from '../../src/github/contents/list-tree.ts'
import { appendFile } from '../../src/github/pulls/append-file.ts'
import { type Head, readBranch } from '../../src/github/pulls/branch.ts'
import type { Outbox } from '../../src/outbox/outbox.ts'
import type { WriteTrail } from '../../src/queue/queue.ts'
import { appendDecisions } from '../../src/trail/append-decisions.ts'
import { gapDecision } from '../../src/trail/gap-decision.ts'
import { continues, EMPTY_TRAIL, readLastFile, type TrailEnd } from '../../src/trail/read-last-file.ts'
import type { TrailAnchor, TrailDecision } from '../../src/trail/trail-entry.ts'
import { TRAIL_BRANCH } from '../../src/trail/trail-files.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { speaker } from '../publish/speaker.ts'

/** Decisions of one commit. */
const AT_ONCE = 500
/** Bytes of them: the file is read again by the next one. */
const MAX_FILE = 8 * 1024 * 1024

/**
 * Appends the waiting decisions of a fleet to its trail: one commit with one new file. A job whose answer was lost finds
 * its decisions in the last file. A trail that ends before what was written, or differs from it, is not continued.
 */
export async function writeTrail(context: WorkerContext, data: WriteTrail): Promise<void> {
  const { outbox, queue } = context
  if (outbox === undefined) return
  const subject = await openRepository(context, data)
  if (!subject) return
  const { fleets } = await subject.installation.designation()
  if (!fleets.some(({ repository }) => repository.url === subject.repository.url)) return
  const key = `trail ${subject.repository.url}`
  try {
    const { octokit, repository } = subject
    const more = await queue.alone(key, () => writeBatch(context, outbox, data, octokit, repository.id))
    if (more) await queue.add('write-trail', data)
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'git-corrupt') throw error
    // trying again changes nothing: its decisions wait until the branch is restored, and each new one looks again
    context.log.error({ err: error, repository: subject.repository.url }, 'trail was changed by someone else')
  }
}

/** Whether others are waiting. */
async function writeBatch(
  context: WorkerContext,
  outbox: Outbox,
  place: WriteTrail,
  reader: Octokit,
  repositoryId: number,
): Promise<boolean> {
  const { decisions: waiting, lost } = await outbox.waiting(place, AT_ONCE)
  const decisions = fitting(waiting)
  if (decisions.length === 0 && lost === 0) return false
  const head = await readBranch(reader, place, TRAIL_BRANCH)
  const last = await readEnd(context, reader, place, head)
  const known = await outbox.head(place)
  if (!continues(last, known, decisions)) throw notContinued(place, last, known)
  const { octokit, app } = await speaker(context, place.installation, repositoryId)
  const about = { who: `${app.slug}[bot]`, repository: `${place.owner}/${place.repo}`, engine: ENGINE_VERSION }
  const gap = lost > 0 ? [gapDecision(lost, { ...about, at: new Date().toISOString() })] : []
  const appended = appendDecisions([...decisions, ...gap], last.head, last.entries)
  if (appended !== undefined) {
    const { file, head: end } = appended
    const first = (last.head?.seq ?? 0) + 1
    await appendFile(octokit, place, head, {
      branch: TRAIL_BRANCH,
      path: file.path,
      content: Buffer.from(file.bytes).toString('utf8'),
      message: `trail: entries ${first} to ${end.seq} [skip ci]`,
    })
  }
  const end = appended?.head ?? last.head
  if (end !== undefined) await outbox.written(place, { count: decisions.length, lost, head: end })
  return (await outbox.waiting(place, 1)).decisions.length > 0
}

/** The first decisions that fit into a file: at least one. */
function fitting(decisions: readonly TrailDecision[]): readonly TrailDecision[] {
  let bytes = 0
  const over = decisions.findIndex((one, index) => {
    bytes += Buffer.byteLength(JSON.stringify(one))
    return index > 0 && bytes > MAX_FILE
  })
  return over < 0 ? decisions : decisions.slice(0, over)
}

/** The last file of the trail: where the next one continues. */
async function readEnd(
  { store }: WorkerContext,
  reader: Octokit,
  place: WriteTrail,
  head: Head | undefined,
): Promise<TrailEnd> {
  if (head === undefined) return EMPTY_TRAIL
  const listed = await listTree(reader, store, place, head.tree, DEFAULT_LIMITS)
  const last = listed
    .map(({ path, id }) => ({ path, id }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .at(-1)
  if (last === undefined) return EMPTY_TRAIL
  await fetchBlobs(reader, store, place, [last.id])
  const bytes = await store.readBlob(last.id)
  if (bytes === undefined) throw new BailiwickError('git-missing', `${last.path}: missing in the trail`)
  return readLastFile({ path: last.path, bytes })
}

function notContinued(place: WriteTrail, { head }: TrailEnd, known: TrailAnchor | undefined): BailiwickError {
  const message = `trail of ${place.owner}/${place.repo}: ends at entry ${head?.seq ?? 0}, and the entry that was written last is ${known?.seq ?? 0}. Nothing is added to it`
  return new BailiwickError('git-corrupt', message, {
    fix: `Restore the branch ${TRAIL_BRANCH}, and protect it against pushes.`,
  })
}
