import type { AppIdentity, Octokit } from '../../src/github/client/octokit.ts'
import { upsertIssue } from '../../src/github/issues/upsert-issue.ts'
import type { Outbox } from '../../src/outbox/outbox.ts'
import type { WriteTrail } from '../../src/queue/queue.ts'
import {
  REFUSED,
  REFUSED_TITLE,
  STOPPED_TITLE,
  stoppedMarker,
  trailRefusedText,
  trailResumedText,
  trailStoppedText,
} from '../../src/report/trail-stopped-text.ts'
import { TRAIL_BRANCH } from '../../src/trail/trail-files.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/** Why nothing is added to a trail. */
interface Stop {
  /** The same for the same state of the branch: one issue tells of it. */
  readonly incident: string
  readonly why: string
  readonly commit: string | undefined
}

interface StoppedPlace {
  readonly outbox: Outbox
  readonly place: WriteTrail
  /** For the fleet's repository alone. */
  readonly writer: { readonly octokit: Octokit; readonly app: AppIdentity }
}

/** Tells the fleet admins, by one issue for each incident, that nothing is added to their trail. */
export async function sayStoppedTrail(context: WorkerContext, stopped: StoppedPlace, stop: Stop): Promise<void> {
  const { outbox, place } = stopped
  const { incident, ...what } = stop
  if ((await outbox.stopped(place)) === incident) return
  const fleet = `${place.owner}/${place.repo}`
  await write(context, stopped, incident, trailStoppedText({ ...what, branch: TRAIL_BRANCH, fleet }))
  await outbox.stop(place, incident)
}

/** Tells the fleet admins, by one issue, that GitHub lets the App write nothing to their trail. */
export async function sayRefusedTrail(context: WorkerContext, stopped: StoppedPlace, why: string): Promise<void> {
  const { outbox, place } = stopped
  if ((await outbox.stopped(place)) === REFUSED) return
  await write(context, stopped, REFUSED, trailRefusedText(TRAIL_BRANCH, why))
  await outbox.stop(place, REFUSED)
}

/** Says on the issue of the incident that the trail goes on. */
export async function sayResumedTrail(context: WorkerContext, stopped: StoppedPlace): Promise<void> {
  const { outbox, place } = stopped
  const incident = await outbox.stopped(place)
  if (incident === undefined) return
  await write(context, stopped, incident, trailResumedText(TRAIL_BRANCH))
  await outbox.stop(place, undefined)
}

async function write(
  context: WorkerContext,
  { place, writer: { octokit, app } }: StoppedPlace,
  incident: string,
  text: string,
): Promise<void> {
  const marker = stoppedMarker(incident)
  const issue = { marker, title: incident === REFUSED ? REFUSED_TITLE : STOPPED_TITLE, body: `${marker}\n\n${text}` }
  const said = await upsertIssue(octokit, app, { owner: place.owner, repo: place.repo }, issue)
  if (!said)
    context.log.warn({ ...place }, 'issues are disabled in the fleet repository: the state of its trail is not shown')
}
