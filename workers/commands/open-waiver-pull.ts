import { hash } from 'node:crypto'
import { WAIVER_RUN } from '../../src/command/record.ts'
import { withWaivers } from '../../src/command/waiver/edit-waivers.ts'
import { waiverRecord } from '../../src/command/waiver/waiver-record.ts'
import { type WaiverPull, waiverText } from '../../src/command/waiver/waiver-text.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import { type OpenedPullRequest, openPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import { readFleetFileText } from '../fleets/fleet-text.ts'
import type { PublishTarget } from '../publish/say-verdict.ts'

/** Branches of ours for waivers begin so. */
export const WAIVER_BRANCH = 'bailiwick/waive-'

/** The branch on which one thing of one pull request is asked for: asking again brings it up to date. */
export function waiverBranch(of: string, target: string): string {
  const readable = `${of}-${target}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 80)
  return `${WAIVER_BRANCH}${readable.replace(/^-|-$/g, '')}-${hash('sha256', JSON.stringify([of, target])).slice(0, 8)}`
}

/** Who speaks, and for which fleet. */
export interface WaiverDesk {
  readonly place: Pick<PublishTarget, 'octokit' | 'app'>
  readonly installation: Installation
  readonly fleet: FleetPlace
}

/**
 * Opens the pull request on the fleet's repository that adds waivers to its own file, or brings it up to date, and notes on
 * its commit who stands behind it. Throws `command-input` where the file cannot take them.
 */
export async function openWaiverPull(desk: WaiverDesk, pull: WaiverPull, branch: string): Promise<OpenedPullRequest> {
  const { place, installation, fleet } = desk
  const name = { owner: fleet.repository.owner, repo: fleet.repository.name }
  const { approver } = pull
  const entries = approver === undefined ? pull.entries : pull.entries.map(entry => ({ ...entry, approver }))
  const text = waiverText(pull)
  const opened = await openPullRequest(place.octokit, place.app, name, {
    base: fleet.branch,
    branch,
    files: [{ path: FLEET_FILE, content: withWaivers((await readFleetFileText(installation, fleet)).text, entries) }],
    title: text.title,
    body: text.body,
    message: text.title,
  })
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
