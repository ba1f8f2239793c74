import { BailiwickError } from '../../src/base/errors.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/input.ts'
import { appendFile } from '../../src/github/branches.ts'
import { readSignedHead, type SignedHead } from '../../src/github/contents/commits.ts'
import { fetchBlobs } from '../../src/github/contents/read-tree.ts'
import { readBlobId } from '../../src/github/contents/repositories.ts'
import { upsertIssue } from '../../src/github/issues.ts'
import type { Outbox } from '../../src/receive/outbox.ts'
import type { Attempt, WriteTrail } from '../../src/receive/queue.ts'
import {
  REFUSED,
  REFUSED_TITLE,
  STOPPED_TITLE,
  stoppedMarker,
  trailRefusedText,
  trailResumedText,
  trailStoppedText,
} from '../../src/report/trail-stopped-text.ts'
import {
  addedFile,
  appendDecisions,
  commitMessage,
  EMPTY_TRAIL,
  nextEntry,
  readLastFile,
  type TrailEnd,
  whyNotContinued,
} from '../../src/verdict/append-decisions.ts'
import { gapDecision, TRAIL_BRANCH, type TrailDecision, type WrittenEnd } from '../../src/verdict/trail-entry.ts'
import { openCase, openWriter } from '../fleets/github-installation.ts'
import type { Case, WorkerContext, Writer } from '../fleets/worker-context.ts'

/**
 * Appends the waiting decisions of a fleet to its trail. If someone else changed the branch, adds nothing: opens an issue, logs
 * the reason, and keeps the decisions until the branch is restored.
 */
export async function writeTrail(context: WorkerContext, data: WriteTrail, attempt: Attempt): Promise<void> {
  const { outbox, queue } = context
  if (outbox === undefined) return
  const subject = await openCase(context, data, attempt)
  if (!subject) return
  const { repository } = subject
  const { fleets } = await subject.installation.designation()
  if (!fleets.some(({ repository: { url } }) => url === repository.url)) return
  await queue.withLock(`trail ${repository.url}`, async () => {
    const desk = { outbox, place: data, subject, writer: await openWriter(context, data.installation, repository) }
    const appended = await appendBatch(desk).catch(refusal)
    if (appended instanceof BailiwickError) {
      context.log.error({ err: appended, repository: repository.url }, 'trail cannot be written')
      await reportRefusedTrail(desk, appended.message)
      return
    }
    if (appended.state === 'stopped') {
      const message = `trail of ${data.owner}/${data.repo}: ${appended.why}. Nothing is added to it`
      const fix = `Restore the branch ${TRAIL_BRANCH}, and protect it against pushes.`
      context.log.error(
        { err: new BailiwickError('git-corrupt', message, { fix }), repository: repository.url },
        'trail was changed by someone else',
      )
      await reportStoppedTrail(desk, appended)
      return
    }
    await reportResumedTrail(desk)
    if (appended.more) await queue.add('write-trail', data)
  })
}

/** GitHub's refusal is permanent, so the job is not retried; the next decision tries again. */
function refusal(error: unknown): BailiwickError {
  if (error instanceof BailiwickError && error.code === 'not-permitted') return error
  throw error
}

/** Maximum number of decisions in one commit. */
const AT_ONCE = 500
/** Maximum bytes of one file, because the App reads the last file again when its store was lost. */
const MAX_FILE = 8 * 1024 * 1024

/** A fleet whose trail is written. */
interface TrailDesk {
  readonly outbox: Outbox
  /** The key of its decisions in the outbox. */
  readonly place: WriteTrail
  readonly subject: Case
  readonly writer: Writer
}

/** The decisions were written (`more`: others wait), or the branch is not as the App left it. */
type Appended =
  | { readonly state: 'written'; readonly more: boolean }
  | { readonly state: 'stopped'; readonly why: string; readonly incident: string; readonly commit: string | undefined }

/**
 * Appends the first waiting decisions of a fleet to its trail: one commit with one new file. A retried job whose response was lost
 * finds its decisions in the last file. Does not continue a branch that someone else changed.
 */
async function appendBatch(desk: TrailDesk): Promise<Appended> {
  const { outbox, place, subject, writer } = desk
  const { app, repository } = subject
  const { decisions: waiting, lost } = await outbox.waiting(place, AT_ONCE)
  const decisions = fitting(waiting)
  if (decisions.length === 0 && lost === 0) return { state: 'written', more: false }
  const head = await readSignedHead(subject, TRAIL_BRANCH)
  const known = await outbox.head(place)
  const end = await readEnd(subject, head, known)
  const present = head && !('why' in end) ? { ...end, commit: head } : undefined
  const why =
    'why' in end ? end.why : whyNotContinued(present, known, decisions, { slug: app.slug, fleet: repository.id })
  if (why !== undefined) return { state: 'stopped', why, incident: head?.commit ?? 'gone', commit: known?.commit }
  const last = present ?? EMPTY_TRAIL
  const about = { who: `${app.slug}[bot]`, repository: `${place.owner}/${place.repo}`, engine: ENGINE_VERSION }
  const gap = lost > 0 ? [gapDecision(lost, { ...about, at: new Date().toISOString() })] : []
  const appended = appendDecisions([...decisions, ...gap], last.head, last.entries, repository.id)
  if (appended !== undefined) {
    const { file, head: written } = appended
    const commit = await appendFile(writer, head, {
      ...{ branch: TRAIL_BRANCH, path: file.path, content: Buffer.from(file.bytes).toString('utf8') },
      message: commitMessage(nextEntry(last), written.seq),
    })
    await outbox.written(place, { count: decisions.length, lost, head: { ...written, commit, at: Date.now() } })
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

/** The end that the next file continues: the recorded one, or that of the last file; or why it cannot be read. */
async function readEnd(
  subject: Case,
  head: SignedHead | undefined,
  known: WrittenEnd | undefined,
): Promise<TrailEnd | { readonly why: string }> {
  if (head === undefined) return EMPTY_TRAIL
  const { store } = subject.context
  // the commit id identifies its content, so the file need not be read again
  if (known !== undefined && head.commit === known.commit) return { entries: [], head: known }
  const path = addedFile(head.message)
  const id = path === undefined ? undefined : await readBlobId(subject, path, head.commit)
  if (path === undefined || id === undefined) return { why: `commit ${head.commit} is not one that adds entries` }
  await fetchBlobs(subject, store, [id])
  const bytes = await store.readBlob(id)
  if (bytes === undefined) throw new BailiwickError('git-missing', `${path}: missing in the trail`)
  try {
    return readLastFile({ path, bytes })
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'git-corrupt') throw error
    return { why: `commit ${head.commit}: ${error.message}` }
  }
}

/** Why the App does not write to a trail. */
interface Stop {
  /** Identifies the state of the branch, so that each state gets one issue. */
  readonly incident: string
  readonly why: string
  readonly commit: string | undefined
}

/** Reports to the fleet admins, with one issue per incident, that the App no longer writes to their trail. */
async function reportStoppedTrail(desk: TrailDesk, stop: Stop): Promise<void> {
  const { outbox, place } = desk
  const { incident, ...what } = stop
  if ((await outbox.stopped(place)) === incident) return
  const fleet = `${place.owner}/${place.repo}`
  await write(desk, incident, trailStoppedText({ ...what, branch: TRAIL_BRANCH, fleet }))
  await outbox.stop(place, incident)
}

/** Reports to the fleet admins, with one issue, that GitHub rejects the App's writes to their trail. */
async function reportRefusedTrail(desk: TrailDesk, why: string): Promise<void> {
  const { outbox, place } = desk
  if ((await outbox.stopped(place)) === REFUSED) return
  await write(desk, REFUSED, trailRefusedText(TRAIL_BRANCH, why))
  await outbox.stop(place, REFUSED)
}

/** Comments on the incident's issue that the trail continues. */
async function reportResumedTrail(desk: TrailDesk): Promise<void> {
  const { outbox, place } = desk
  const incident = await outbox.stopped(place)
  if (incident === undefined) return
  await write(desk, incident, trailResumedText(TRAIL_BRANCH))
  await outbox.stop(place, undefined)
}

async function write({ place, writer }: TrailDesk, incident: string, text: string): Promise<void> {
  const marker = stoppedMarker(incident)
  const issue = { marker, title: incident === REFUSED ? REFUSED_TITLE : STOPPED_TITLE, body: `${marker}\n\n${text}` }
  const written = await upsertIssue(writer, issue)
  if (!written)
    writer.context.log.warn(
      { ...place },
      'issues are disabled in the fleet repository: the state of its trail is not shown',
    )
}
