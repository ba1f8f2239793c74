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

/** Why the App does not write to a trail. */
interface Stop {
  /** Identifies the state of the branch, so that each state gets one issue. */
  readonly incident: string
  readonly why: string
  readonly commit: string | undefined
}

interface StoppedPlace {
  readonly outbox: Outbox
  readonly place: WriteTrail
  /** An installation token for the fleet's repository only. */
  readonly writer: { readonly octokit: Octokit; readonly app: AppIdentity }
}

/** Reports to the fleet admins, with one issue per incident, that the App no longer writes to their trail. */
export async function reportStoppedTrail(context: WorkerContext, stopped: StoppedPlace, stop: Stop): Promise<void> {
  const { outbox, place } = stopped
  const { incident, ...what } = stop
  if ((await outbox.stopped(place)) === incident) return
  const fleet = `${place.owner}/${place.repo}`
  await write(context, stopped, incident, trailStoppedText({ ...what, branch: TRAIL_BRANCH, fleet }))
  await outbox.stop(place, incident)
}

/** Reports to the fleet admins, with one issue, that GitHub rejects the App's writes to their trail. */
export async function reportRefusedTrail(context: WorkerContext, stopped: StoppedPlace, why: string): Promise<void> {
  const { outbox, place } = stopped
  if ((await outbox.stopped(place)) === REFUSED) return
  await write(context, stopped, REFUSED, trailRefusedText(TRAIL_BRANCH, why))
  await outbox.stop(place, REFUSED)
}

/** Comments on the incident's issue that the trail continues. */
export async function reportResumedTrail(context: WorkerContext, stopped: StoppedPlace): Promise<void> {
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
  const written = await upsertIssue(octokit, app, { owner: place.owner, repo: place.repo }, issue)
  if (!written)
    context.log.warn({ ...place }, 'issues are disabled in the fleet repository: the state of its trail is not shown')
}
