import { hash } from 'node:crypto'
import { WAIVER_RUN } from '../../src/command/record.ts'
import { withWaivers } from '../../src/command/waiver/edit-waivers.ts'
import { waiverRecord } from '../../src/command/waiver/waiver-record.ts'
import { type WaiverPull, waiverText } from '../../src/command/waiver/waiver-text.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import type { OpenedPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { readFleetFileText } from '../fleets/fleet-text.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'
import { openRecordedPull } from '../trail/recorded-writes.ts'

/** The prefix of waiver branches. */
export const WAIVER_BRANCH = 'bailiwick/waive-'

/** The branch of a waiver request for one target of one pull request; a repeated request updates it. */
export function waiverBranch(of: string, target: string): string {
  const readable = `${of}-${target}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 80)
  return `${WAIVER_BRANCH}${readable.replace(/^-|-$/g, '')}-${hash('sha256', JSON.stringify([of, target])).slice(0, 8)}`
}

/** The fleet of a waiver, and the client that writes to it. */
export interface WaiverDesk {
  readonly context: WorkerContext
  readonly place: Pick<PublishTarget, 'octokit' | 'app'>
  readonly installation: Installation
  readonly fleet: FleetPlace
}

/**
 * Opens or updates the pull request that adds waivers to the fleet's file, and records the requester and approver on
 * its commit. Throws `command-input` if the file cannot be edited.
 */
export async function openWaiverPull(desk: WaiverDesk, pull: WaiverPull, branch: string): Promise<OpenedPullRequest> {
  const { context, place, installation, fleet } = desk
  const name = { owner: fleet.repository.owner, repo: fleet.repository.name }
  const { approver } = pull
  const entries = approver === undefined ? pull.entries : pull.entries.map(entry => ({ ...entry, approver }))
  const text = waiverText(pull)
  const opened = await openRecordedPull(
    { context, app: place.app, fleet: { installation: installation.id, url: fleet.repository.url } },
    place.octokit,
    name,
    {
      base: fleet.branch,
      branch,
      files: [{ path: FLEET_FILE, content: withWaivers((await readFleetFileText(installation, fleet)).text, entries) }],
      title: text.title,
      body: text.body,
      message: text.title,
    },
  )
  const record = waiverRecord(pull)
  await publishCheckRun(place.octokit, place.app, name, {
    ...record,
    headSha: opened.head,
    name: WAIVER_RUN,
    externalId: hash('sha256', record.text),
    conclusion: approver === undefined ? 'action_required' : 'success',
    annotations: [],
    // GitHub asks for an address where something is to be done
    detailsUrl: opened.url,
  })
  return opened
}
