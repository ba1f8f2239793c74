import { BailiwickError } from '../../src/errors.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/engine-version.ts'
import type { AppIdentity, Octokit } from '../../src/github/client/octokit.ts'
import { readSignedHead, type SignedHead } from '../../src/github/contents/branch-commits.ts'
import { fetchBlobs } from '../../src/github/contents/fetch-blobs.ts'
import { readBlobId } from '../../src/github/contents/read-file.ts'
import { appendFile } from '../../src/github/pulls/append-file.ts'
import type { Outbox } from '../../src/outbox/outbox.ts'
import type { WriteTrail } from '../../src/queue/queue.ts'
import { appendDecisions } from '../../src/trail/append-decisions.ts'
import { gapDecision } from '../../src/trail/gap-decision.ts'
import { EMPTY_TRAIL, readLastFile, type TrailEnd } from '../../src/trail/read-last-file.ts'
import { addedFile, commitMessage, nextEntry } from '../../src/trail/trail-commit.ts'
import type { TrailDecision, WrittenEnd } from '../../src/trail/trail-entry.ts'
import { TRAIL_BRANCH } from '../../src/trail/trail-files.ts'
import { whyNotContinued } from '../../src/trail/why-not-continued.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { keepHistory } from './keep-history.ts'

/** Maximum number of decisions in one commit. */
const AT_ONCE = 500
/** Maximum bytes of one file, because the App reads the last file again when its store was lost. */
const MAX_FILE = 8 * 1024 * 1024

interface TrailDesk {
  readonly outbox: Outbox
  readonly place: WriteTrail
  readonly repositoryId: number
  readonly reader: Octokit
  /** An installation token for the fleet's repository only. */
  readonly writer: { readonly octokit: Octokit; readonly app: AppIdentity }
}

/** The decisions were written (`more`: others are waiting), or the branch is not in the state in which the App left it. */
type Appended =
  | { readonly state: 'written'; readonly more: boolean }
  | { readonly state: 'stopped'; readonly why: string; readonly incident: string; readonly commit: string | undefined }

/**
 * Appends the first waiting decisions of a fleet to its trail: one commit with one new file. A retried job whose response was lost
 * finds its decisions in the last file. Does not continue a branch that someone else changed.
 */
export async function appendBatch(context: WorkerContext, desk: TrailDesk): Promise<Appended> {
  const { outbox, place, reader, repositoryId, writer } = desk
  const { decisions: waiting, lost } = await outbox.waiting(place, AT_ONCE)
  const decisions = fitting(waiting)
  if (decisions.length === 0 && lost === 0) return { state: 'written', more: false }
  const head = await readSignedHead(reader, place, TRAIL_BRANCH)
  const known = await outbox.head(place)
  const { octokit, app } = writer
  const end = await readEnd(context, desk, head, known)
  const present = head && !('why' in end) ? { ...end, commit: head } : undefined
  const why =
    'why' in end ? end.why : whyNotContinued(present, known, decisions, { slug: app.slug, fleet: repositoryId })
  if (why !== undefined) return { state: 'stopped', why, incident: head?.commit ?? 'gone', commit: known?.commit }
  const last = present ?? EMPTY_TRAIL
  const about = { who: `${app.slug}[bot]`, repository: `${place.owner}/${place.repo}`, engine: ENGINE_VERSION }
  const gap = lost > 0 ? [gapDecision(lost, { ...about, at: new Date().toISOString() })] : []
  const appended = appendDecisions([...decisions, ...gap], last.head, last.entries, repositoryId)
  if (appended !== undefined) {
    const { file, head: written } = appended
    const commit = await appendFile(octokit, place, head, {
      ...{ branch: TRAIL_BRANCH, path: file.path, content: Buffer.from(file.bytes).toString('utf8') },
      message: commitMessage(nextEntry(last), written.seq),
    })
    await outbox.written(place, { count: decisions.length, lost, head: { ...written, commit } })
    await keepHistory(context, { ...place, repositoryId }, file, commit)
  } else if (head && last.head) {
    await outbox.written(place, { count: decisions.length, lost, head: { ...last.head, commit: head.commit } })
  }
  return { state: 'written', more: (await outbox.waiting(place, 1)).decisions.length > 0 }
}

/** The first decisions that fit into one file, at least one. */
function fitting(decisions: readonly TrailDecision[]): readonly TrailDecision[] {
  let bytes = 0
  const over = decisions.findIndex((one, index) => {
    bytes += Buffer.byteLength(JSON.stringify(one))
    return index > 0 && bytes > MAX_FILE
  })
  return over < 0 ? decisions : decisions.slice(0, over)
}

/** The end that the next file continues: the recorded one, or that of the last commit's file; or why it cannot be read. */
async function readEnd(
  { store }: WorkerContext,
  { reader, place }: TrailDesk,
  head: SignedHead | undefined,
  known: WrittenEnd | undefined,
): Promise<TrailEnd | { readonly why: string }> {
  if (head === undefined) return EMPTY_TRAIL
  // the commit id identifies its content, so the file need not be read again
  if (known !== undefined && head.commit === known.commit) return { entries: [], head: known }
  const path = addedFile(head.message)
  const id = path === undefined ? undefined : await readBlobId(reader, place, path, head.commit)
  if (path === undefined || id === undefined) return { why: `commit ${head.commit} is not one that adds entries` }
  await fetchBlobs(reader, store, place, [id])
  const bytes = await store.readBlob(id)
  if (bytes === undefined) throw new BailiwickError('git-missing', `${path}: missing in the trail`)
  try {
    return readLastFile({ path, bytes })
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'git-corrupt') throw error
    return { why: `commit ${head.commit}: ${error.message}` }
  }
}
