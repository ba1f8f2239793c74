import { expect, test } from 'vitest'
import { work } from '../../../src/base/work.ts'
import { FleetSession } from '../../../src/fleet/graph/fleet-session.ts'
import { openCommit } from '../../../src/git/commits.ts'
import { withEarlier } from '../../../src/surface/cli/evaluate-copy.ts'
import { buildCompleteFleet, type Compared, directoryReader } from '../../../src/surface/cli/working-sources.ts'
import { git, repository, writeFiles } from '../../base/git/temporary-folder.ts'
import { FLEET_URL, fleetFiles } from '../../fleet/mini-fleet.ts'
import { run } from './run-main.ts'

const OVERLAY = 'tenants/kustomization.yaml'

/** A fleet whose overlay is broken in its last commits. */
function broken(commits: number) {
  const dir = repository(fleetFiles)
  git(dir, 'remote', 'add', 'origin', FLEET_URL)
  for (let left = commits; left > 0; left--) {
    writeFiles(dir, { [OVERLAY]: `resources: [ # ${left}\n` })
    git(dir, 'commit', '-qam', `broken ${left}`)
  }
  const commitsOf = git(dir, 'rev-list', 'HEAD').split('\n')
  return { dir, head: commitsOf[0]!, began: commitsOf[commits - 1]! }
}

/** What the search finds where each look at the clock is `step` milliseconds after the one before. */
async function search(dir: string, commit: string, step: number) {
  const session = new FleetSession()
  const tree = await openCommit(dir, commit)
  const home = { url: FLEET_URL, branch: 'main', commit, tree }
  const build = (compared: Compared = {}) =>
    buildCompleteFleet(home, [], [], directoryReader(), compared, session, undefined)
  let time = 0
  const { input, fleet } = await withEarlier(await build(), { dir, commit }, session, build, () => {
    time += step
    return time
  })
  return {
    since: input.retain?.since?.get('staging/flux-system/tenants'),
    unknown: fleet.nodes.filter(node => node.unknown).map(node => node.name),
  }
}

test('the commit since which a Kustomization does not build is found within the time, and not after it', async () => {
  const { dir, head, began } = broken(5)
  expect(await search(dir, head, 100)).toEqual({ since: began, unknown: [] })
  expect(await search(dir, head, 1000)).toEqual({ since: undefined, unknown: ['tenants'] })
})

test('each earlier commit is built once', async () => {
  const { dir, head } = broken(12)
  const older = FleetSession.prototype.build
  let walked = 0
  FleetSession.prototype.build = function (this: FleetSession, ...given) {
    const before = work.walked
    const fleet = older.apply(this, given)
    walked += work.walked - before
    return fleet
  }
  try {
    await search(dir, head, 0)
  } finally {
    FleetSession.prototype.build = older
  }
  // twelve commits, and the fleet itself without and with what is retained
  expect(walked).toBeLessThanOrEqual(15)
})

test('an existing error names the commit, a new one of the same Kustomization does not', async () => {
  const { dir, began } = broken(3)
  const note = `The Kustomization has evaluation errors since commit ${began.slice(0, 10)}.`
  expect((await run(dir, 'check')).stdout).toContain(note)
  expect((await run(dir, 'check', '--base', 'HEAD')).stdout).toContain(note)
  const json = async () => JSON.parse((await run(dir, 'check', '--base', 'HEAD', '-o', 'json')).stdout).errors
  expect(await json()).toContainEqual(expect.objectContaining({ state: 'standing', since: began }))
  writeFiles(dir, { [OVERLAY]: 'resources: {}\n' })
  expect(await json()).toContainEqual(expect.not.objectContaining({ since: began }))
})
