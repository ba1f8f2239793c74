import { BRANCH_CHECK_NAME, CHECK_NAME } from '../../../src/verdict/check-names.ts'
import type { CheckRun } from '../../../tools/github/world.ts'
import { liveStatus } from '../../workers/story/live.ts'
import type { Stage } from '../../workers/story/stage.ts'
import { deploymentFile, MOVE_PATCH, overlay } from '../../workers/story/tenant-changes.ts'
import { tell } from './tell.ts'

const APPLY = 'bailiwick / apply (staging)'
// no controller fills the role of tenants here
const ONBOARD =
  '/bailiwick onboard ops-team --repo https://github.com/acme/ops-team --namespace ops --cluster staging --role cluster-admin'

/** The main job from beginning to end. Throws where it does not go as told: a demo that lies is worse than none. */
export async function tellStory(stage: Stage): Promise<void> {
  await onboard(stage)
  await reachOut(stage)
  await correct(stage)
  await directPush(stage)
}

async function onboard(stage: Stage): Promise<void> {
  const { github } = stage
  tell.title('1. A fleet admin onboards a tenant')
  const { number: issue } = github.issue({ repo: 'acme/fleet', title: 'A team for operations', as: 'ada' })
  tell.said('ada', ONBOARD)
  github.comment({ repo: 'acme/fleet', issue, as: 'ada', body: ONBOARD })
  await stage.settle()
  const pull = openPullRequest(stage, 'acme/fleet')
  tell.step(`pull request #${pull.issue.number} of ${pull.issue.user.login}: ${pull.issue.title}`)
  const before = new Map(
    github.filesOf('acme/fleet', 'main').map(path => [path, github.readFile('acme/fleet', 'main', path)]),
  )
  const changed = github
    .filesOf('acme/fleet', pull.head.sha)
    .filter(path => before.get(path) !== github.readFile('acme/fleet', pull.head.sha, path))
  tell.list(changed.map(path => `${before.has(path) ? '~' : '+'} ${path}`))
  expectCheck(stage, 'acme/fleet', pull.head.sha, 'success')
  merge(stage, 'acme/fleet', pull.issue.number, 'ada', 200)
  await stage.settle()
  await applied(stage, 'acme/fleet', '/api/v1/namespaces/ops/serviceaccounts/ops-team', 200)
}

function openPullRequest({ github }: Stage, repo: string) {
  const found = github.pullRequestsOf(repo).find(pull => pull.issue.state === 'open')
  if (!found) throw new Error(`${repo} has no open pull request`)
  return found
}

async function reachOut(stage: Stage): Promise<void> {
  const { github } = stage
  tell.title("2. A tenant's patch moves an object into another tenant's namespace")
  const files = {
    'kustomization.yaml': overlay({ moved: true }),
    'report.yaml': deploymentFile('report'),
    'move.yaml': MOVE_PATCH,
  }
  const parent = github.commitOf('acme/ops-team', 'main')
  github.push({ repo: 'acme/ops-team', branch: 'report', parent, files, as: 'otto' })
  github.openPullRequest({ repo: 'acme/ops-team', head: 'report', title: 'Add the report', as: 'otto' })
  tell.step('otto opens pull request #1 in acme/ops-team: Add the report')
  await stage.settle()
  const run = expectCheck(stage, 'acme/ops-team', 'report', 'failure')
  for (const note of run.annotations) tell.annotation(github.readFile('acme/ops-team', 'report', note.path), note)
  for (const comment of github.commentsOf('acme/ops-team', 1)) tell.comment(comment)
  merge(stage, 'acme/ops-team', 1, 'otto', 405)
}

async function correct(stage: Stage): Promise<void> {
  const { github } = stage
  tell.title('3. The tenant corrects it; it is merged and applied as the tenant')
  const files = { 'kustomization.yaml': overlay({ moved: false }) }
  github.push({ repo: 'acme/ops-team', branch: 'report', files, remove: ['move.yaml'], as: 'otto' })
  tell.step('otto pushes a correction')
  await stage.settle()
  expectCheck(stage, 'acme/ops-team', 'report', 'success')
  merge(stage, 'acme/ops-team', 1, 'otto', 200)
  await stage.settle()
  await applied(stage, 'acme/ops-team', '/apis/apps/v1/namespaces/ops/deployments/report', 200)
}

async function directPush(stage: Stage): Promise<void> {
  const { github } = stage
  tell.title('4. A direct push bypasses the gate, and an empty commit follows')
  const files = { 'kustomization.yaml': overlay({ moved: true }), 'move.yaml': MOVE_PATCH }
  const commits = [
    github.push({ repo: 'acme/ops-team', files, as: 'ada' }),
    github.push({ repo: 'acme/ops-team', message: 'Nothing to see', as: 'ada' }),
  ]
  await stage.settle()
  for (const { sha } of commits) {
    tell.step(`commit ${sha.slice(0, 7)} on main of acme/ops-team`)
    expectCheck(stage, 'acme/ops-team', sha, 'failure', BRANCH_CHECK_NAME)
  }
  await applied(stage, 'acme/ops-team', '/apis/apps/v1/namespaces/apps/deployments/report', 404)
}

function expectCheck(
  stage: Stage,
  repo: string,
  ref: string,
  conclusion: 'success' | 'failure',
  name: string = CHECK_NAME,
): CheckRun {
  const run = stage.github
    .checkRunsOf(repo, ref)
    .filter(one => one.name === name)
    .at(-1)
  if (run?.conclusion !== conclusion) throw new Error(`${repo}@${ref}: the check is ${run?.conclusion ?? 'missing'}`)
  tell.check(run)
  return run
}

function merge(stage: Stage, repo: string, pull: number, as: string, status: number): void {
  const outcome = stage.github.merge({ repo, pull, as })
  if (outcome.status !== status)
    throw new Error(`merging ${repo}#${pull} answered ${outcome.status}: ${outcome.message}`)
  tell.step(status === 200 ? `${as} merges it` : `${as} tries to merge it. GitHub answers: ${outcome.message}`)
}

async function applied(stage: Stage, repo: string, path: string, status: number): Promise<void> {
  const { staging } = stage.clusters
  if (!staging) return
  const run = stage.github
    .checkRunsOf(repo, 'main')
    .filter(one => one.name === APPLY)
    .at(-1)
  if (run) tell.check(run)
  const found = await liveStatus(staging, path)
  if (found !== status) throw new Error(`${path} is ${found} on the cluster`)
  tell.note(`cluster staging: ${path} ${status === 200 ? 'is there' : 'is not there'}`)
}
