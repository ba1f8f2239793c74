import { afterAll, beforeAll, expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, withResource } from './red-together.ts'

const FLEET = 'acme/fleet'
const STRAY = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  for (const name of ['dev-team', 'fleet']) {
    stage.github.addRepository({ owner: 'finn', name, forkOf: `acme/${name}`, roles: { finn: 'admin' } })
  }
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** Finn, who may write nothing of acme's, proposes something from his fork. */
async function fromFork(repo: string, branch: string, files: Readonly<Record<string, string>>) {
  const { github } = stage
  const headRepo = repo.replace('acme/', 'finn/')
  github.push({ repo: headRepo, branch, parent: github.commitOf(repo, 'main'), files, as: 'finn' })
  github.forget()
  const pull = github.openPullRequest({ repo, headRepo, head: branch, as: 'finn' }).issue.number
  await stage.settle()
  return { pull, run: said(github, repo, github.commitOf(headRepo, branch)) }
}

/** Requests for the fork's own repository, and every write, wherever it goes. */
function touched() {
  const { requests } = stage.github
  const ofFork = requests.filter(({ path }) => path.startsWith('/repos/finn/'))
  const writes = requests.filter(({ method, route }) => method !== 'GET' && !route.includes('access_tokens'))
  return { ofFork, writes: writes.map(({ method, path }) => `${method} ${path.replace(/\d+/g, 'N')}`) }
}

test('a fork is judged through the base repository; check, comment and suggestion are written, nothing to the fork', async () => {
  const { run } = await fromFork(DEV, 'stray', STRAY)
  expect(run).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(run.annotations).toMatchObject([{ path: 'staging/stray.yaml', start_line: 5 }])
  const { ofFork, writes } = touched()
  expect(ofFork).toEqual([])
  const expected = ['check-runs', 'issues/N/comments', 'pulls/N/reviews']
  // a slow evaluation is announced, and the same check run is completed later
  const created = writes.filter(one => one !== `PATCH /repos/${DEV}/check-runs/N`)
  expect(new Set(created)).toEqual(new Set(expected.map(path => `POST /repos/${DEV}/${path}`)))
  expect(stage.github.checkRunsOf('finn/dev-team', stage.github.commitOf('finn/dev-team', 'stray'))).toEqual([])
}, 60_000)

test('the fork gets no button that would write to it', async () => {
  const file = 'tenants/base/dev-team/sync.yaml'
  const bare = fleetFiles(FLEET)[file]!.replace(/\n {2}serviceAccountName: .*/, '')
  const { run } = await fromFork(FLEET, 'bare', { [file]: bare })
  expect(run.conclusion).toBe('failure')
  expect(run.actions.map(({ identifier }) => identifier)).not.toContain('fix')
}, 60_000)

test("the rules are those of the base, not what the fork's head says they are", async () => {
  const config = 'enforcement: report\n'
  const { run } = await fromFork(FLEET, 'loosen', {
    '.github/bailiwick.yaml': config,
    'tenants/production/kustomization.yaml': fleetFiles(FLEET)['tenants/production/kustomization.yaml']!.replace(
      'namespace: apps',
      'namespace: shop',
    ),
  })
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.title).not.toContain('report mode')
}, 60_000)

test('a fork that is gone is judged all the same: what it proposes lies in the base repository', async () => {
  const { github } = stage
  const { pull } = await fromFork(DEV, 'gone', STRAY)
  const [, repository] = [...github.world.repositories].find(([name]) => name === 'finn/dev-team')!
  github.world.repositories.delete('finn/dev-team')
  github.comment({ repo: DEV, issue: pull, as: 'dora', body: '/bailiwick check' })
  await stage.settle()
  const head = github.pullRequestsOf(DEV).find(({ issue }) => issue.number === pull)!.head.sha
  expect(said(github, DEV, head)).toMatchObject({ conclusion: 'failure' })
  github.world.repositories.set('finn/dev-team', repository)
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
