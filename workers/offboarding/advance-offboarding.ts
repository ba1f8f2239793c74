import { BailiwickError } from '../../src/errors.ts'
import { listAllOwnPulls } from '../../src/github/pulls/list-own-pulls.ts'
import type { OwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { fixOf, typedMessage } from '../../src/message/said.ts'
import { type OffboardRecord, readOffboardMarker } from '../../src/offboard/offboard-record.ts'
import { waitingText } from '../../src/offboard/offboard-text.ts'
import { offboardInput } from '../../src/offboard/parse-offboard.ts'
import type { OffboardPlan } from '../../src/offboard/plan.ts'
import type { OffboardRequest, OffboardStage } from '../../src/offboard/request.ts'
import { waitingClusters } from '../fleets/waiting-clusters.ts'
import { type OffboardAsk, type OffboardingPlace, offboardingBranch, requestOf } from './offboarding-place.ts'
import { openOffboarding } from './open-offboarding.ts'

/** A pull request of ours that offboards a tenant. */
interface OffboardPull {
  readonly pull: OwnPull
  readonly record: OffboardRecord
}

/**
 * Does the next step of an offboarding, by what the fleet and GitHub say now. `isContinued`: a fleet admin says that the
 * first change is applied everywhere. Answers with why it waits; undefined where a pull request is open.
 */
export async function advanceOffboarding(
  here: OffboardingPlace,
  asked: OffboardAsk,
  isContinued: boolean,
): Promise<string | undefined> {
  const plan = await planOf(here, asked)
  if (plan.stage === 'done') {
    throw offboardInput(
      `the fleet has nothing of tenant ${asked.tenant} there`,
      'Check the names with `bailiwick access`.',
    )
  }
  const isFirst = plan.stage === 'workloads'
  if (isFirst && isContinued)
    throw offboardInput('the workloads are still in the fleet', 'Merge the first pull request first.')
  const last = isFirst ? undefined : await mergedFirst(here, asked)
  const waits = isContinued || !last ? [] : await waitingClusters(here, last.pull, last.record.on)
  if (waits.length > 0) return waitingText(asked, waits)
  await openOffboarding(here, asked, plan)
  return undefined
}

/** What is next, by the fleet's branch as it is now. */
export async function planOf(
  { context, installation, fleet }: Pick<OffboardingPlace, 'context' | 'installation' | 'fleet'>,
  asked: OffboardRequest,
): Promise<OffboardPlan> {
  const branch = fleet.defaultBranch
  const commit = await installation.head(fleet, { branch })
  if (!commit) throw new BailiwickError('offboard-layout', 'this repository is empty, so there is no fleet')
  const tree = await installation.content(fleet, commit)
  const request = requestOf(asked)
  const answer = await context.evaluator.evaluate({ type: 'offboard', request, tree, url: fleet.url, branch })
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type !== 'offboard') throw new TypeError(`the rendering thread answered ${answer.type}`)
  return answer.plan
}

/** What a pull request of ours offboards; only our App can have written its record. */
export function recordOf({ context, fleet }: Pick<OffboardingPlace, 'context' | 'fleet'>, pull: OwnPull) {
  const record = readOffboardMarker(pull.body, context.config.privateKey)
  return record?.fleet === fleet.id ? record : undefined
}

/** The first change of the same offboarding, where it was merged: the latest. */
async function mergedFirst(here: OffboardingPlace, asked: OffboardAsk): Promise<OffboardPull | undefined> {
  const branch = offboardingBranch(asked, 'workloads')
  const pulls = await listAllOwnPulls(here.reader, here.place.app, here.place, branch)
  return pulls.flatMap(pull => {
    const record = pull.state === 'merged' && pull.branch === branch ? recordOf(here, pull) : undefined
    return record ? [{ pull, record }] : []
  })[0]
}

/** Whether people merged or closed the pull request of that stage, after the one before: only a command opens another one. */
export async function isDecided(
  here: OffboardingPlace,
  asked: OffboardAsk,
  stage: OffboardStage,
  before: number,
): Promise<boolean> {
  const branch = offboardingBranch(asked, stage)
  const pulls = await listAllOwnPulls(here.reader, here.place.app, here.place, branch)
  return pulls.some(one => one.branch === branch && one.state !== 'open' && one.number > before)
}
