import { readCommandLine } from '../../src/command/command-line.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { HumanDecisions } from '../../src/gate/circumstances.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import { listCommentsSince } from '../../src/github/comments/list-comments.ts'
import { type LabelEvent, lastLabelEvent } from '../../src/github/issues/labels.ts'
import { readRole } from '../../src/github/people/permission.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/** The label that holds a pull request. It is on GitHub, so it is visible and independent of this process. */
export const HOLD_LABEL = 'bailiwick/hold'

/** A command may wait that long in the queue and still be found as what put the label on. */
const WAITS_MS = 15 * 60 * 1000
/** Events that could not be read are read again so soon. */
const AGAIN_MS = 30_000
const MAY_WRITE: readonly string[] = ['write', 'maintain', 'admin']

/** Whether a pull request has the hold label. GitHub compares label names without case. */
export function isLabeledHold({ labels }: Pick<PullRequest, 'labels'>): boolean {
  return labels.some(label => label.toLowerCase() === HOLD_LABEL)
}

/**
 * Returns who holds a pull request; undefined if no one does. The label alone is enough for a hold. Without it the last
 * label event decides, because the role triage can remove labels but must not lift a hold; if GitHub does not show the
 * events, the hold stays.
 */
export async function readHold(
  context: Pick<WorkerContext, 'app' | 'queue' | 'log'>,
  subject: OpenedRepository,
  pull: PullRequest,
): Promise<HumanDecisions['hold']> {
  const { repository, octokit, installation } = subject
  const name = { owner: repository.owner, repo: repository.name }
  const isLabeled = isLabeledHold(pull)
  try {
    const last = await lastLabelEvent(octokit, name, pull.number, HOLD_LABEL)
    if (isLabeled) return { by: await holderOf(subject, name, pull.number, last) }
    if (!last || (await lifts(context, subject, name, last))) return undefined
    return { by: `the label ${HOLD_LABEL}`, takenOffBy: last.login ?? 'an account that is gone' }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    context.log.warn(
      { err: error, pull: `${repository.url}#${pull.number}` },
      'history of the hold label could not be read',
    )
    if (isLabeled) return { by: `the label ${HOLD_LABEL}` }
    const data = { installation: installation.id, ...name, pull: pull.number }
    await context.queue.add('validate-pull-request', data, { delayMs: AGAIN_MS })
    return { by: 'Bailiwick, because GitHub does not show the history of the hold label' }
  }
}

/** Whether who took the label off may lift a hold, or our App did, which asked for their role before. */
async function lifts(
  { app }: Pick<WorkerContext, 'app'>,
  { octokit }: OpenedRepository,
  name: RepositoryName,
  { on, login }: LabelEvent,
): Promise<boolean> {
  if (on) return true // the label is gone with another event than its own: it was deleted from the repository
  if (login === undefined) return false
  if (login === `${(await app.identity()).slug}[bot]`) return true
  return MAY_WRITE.includes(await readRole(octokit, name, login))
}

async function holderOf(subject: OpenedRepository, name: RepositoryName, pull: number, last: LabelEvent | undefined) {
  if (!last?.on || last.login === undefined) return `the label ${HOLD_LABEL}`
  if (!last.login.endsWith('[bot]')) return last.login
  return (await commander(subject, name, pull, last.at)) ?? last.login
}

/** Who had our App put it on. Only to say so: whether they could was asked then. */
async function commander({ octokit }: OpenedRepository, name: RepositoryName, pull: number, at: string) {
  const since = new Date(Date.parse(at) - WAITS_MS).toISOString()
  const comments = await listCommentsSince(octokit, name, pull, since)
  const asked = comments.findLast(
    ({ author, body, createdAt }) =>
      author.type === 'User' && createdAt <= at && readCommandLine(body)?.verb === 'hold',
  )
  return asked?.author.login
}
