import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, openDev, withResource } from './red-together.ts'

const resources = { 'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'web.yaml') }
const clean = (replicas: number) => ({
  ...resources,
  'staging/web.yaml': deploymentFile('web', 'apps').replace(/replicas: \d/, `replicas: ${replicas}`),
})
// a violation without a certain edit: a suggestion is a question and a review more
const straying = {
  ...resources,
  'staging/web.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, labels: {web: open}}\n',
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  // long enough ago that what repositories hold is remembered
  for (const repository of stage.github.world.repositories.values()) repository.pushedAt = '2026-01-01T00:00:00Z'
  await stage.settle()
  openDev(stage.github, 'warm', clean(1))
  await stage.settle()
}, 60_000)
beforeEach(() => stage.github.forget())
afterAll(() => stage?.close())

/** Requests since the last look by kind; left out are tokens. `counting`: those that count against GitHub's limit. */
function asked() {
  const requests = stage.github.requests.filter(({ route }) => !route.includes('access_tokens'))
  const kindsOf = (some: typeof requests) => some.map(({ method, route }) => `${method} ${route}`)
  const kinds = kindsOf(requests)
  const creating = kinds.filter(kind => /^POST .*(?:check-runs|comments|reviews|statuses)$/.test(kind))
  const counting = kindsOf(requests.filter(({ status }) => status !== 304))
  return { kinds, counting, creating: creating.length, count: kinds.length }
}

/** Has a pull request evaluated once more, as the sweep does. */
async function evaluateFleet(pull: number) {
  const installation = [...stage.github.world.installations.values()][0]!.id
  await stage.site.queue.add('validate-pull-request', { installation, owner: 'acme', repo: 'dev-team', pull })
  await stage.settle()
}

test('judged again with nothing new: 8 requests at most, and nothing is written', async () => {
  const pull = openDev(stage.github, 'again', clean(2))
  await stage.settle()
  stage.github.forget()
  await evaluateFleet(pull)
  const { kinds, count } = asked()
  expect(kinds.filter(kind => !kind.startsWith('GET '))).toEqual([])
  expect(count, kinds.join('\n')).toBeLessThanOrEqual(8)
}, 60_000)

test('judged again with comment and violation there: 8 at most, and nothing is written', async () => {
  const pull = openDev(stage.github, 'red', straying)
  await stage.settle()
  expect(said(stage.github, DEV, 'red')).toMatchObject({ conclusion: 'failure' })
  stage.github.forget()
  await evaluateFleet(pull)
  const { kinds, count } = asked()
  expect(kinds.filter(kind => !kind.startsWith('GET '))).toEqual([])
  expect(count, kinds.join('\n')).toBeLessThanOrEqual(8)
}, 60_000)

test('a verdict that turns red: 9 requests that count, 2 of them create content', async () => {
  const { github } = stage
  // what is evaluated is in the store already, the verdict is new
  const first = openDev(github, 'first', straying)
  await stage.settle()
  github.closePullRequest({ repo: DEV, pull: first, as: 'dora' })
  await stage.settle()
  github.push({
    repo: DEV,
    branch: 'second',
    parent: github.commitOf(DEV, 'main'),
    files: straying,
    message: 'Again',
    as: 'dora',
  })
  await stage.settle()
  github.forget()
  const pull = github.openPullRequest({ repo: DEV, head: 'second', as: 'dora' }).issue.number
  await stage.settle()
  const evaluation = asked()
  expect(said(github, DEV, 'second')).toMatchObject({ conclusion: 'failure' })
  expect(github.commentsOf(DEV, pull)).toHaveLength(1)
  expect(evaluation.creating).toBe(2)
  // one of them is the list of repositories, in which a push is new
  expect(evaluation.counting.length, evaluation.counting.join('\n')).toBeLessThanOrEqual(9)
  // GitHub has not computed the test merge when it is asked first, and is not waited for
  expect(evaluation.kinds.filter(kind => kind === 'GET /repos/{owner}/{repo}/pulls/{pull_number}')).toHaveLength(1)
}, 60_000)

test('what is untouched: one check run, no comment, and one look for a comment of before', async () => {
  const { github } = stage
  const pull = openDev(github, 'readme', { 'README.md': '# Dev team\n' })
  await stage.settle()
  expect(github.commentsOf(DEV, pull)).toEqual([])
  const { kinds, creating } = asked()
  expect(creating).toBe(1)
  expect(kinds.filter(kind => kind.includes('comments'))).toEqual([
    'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
  ])
  expect(github.checkRunsOf(DEV, 'readme').filter(run => run.name === CHECK_NAME)).toMatchObject([
    { status: 'completed' },
  ])
}, 60_000)

test('a push to an open pull request, both of its jobs and the comment: 9 requests that count, 2 of them write', async () => {
  const { github } = stage
  openDev(github, 'pushed', clean(3))
  await stage.settle()
  for (const replicas of [4, 5]) {
    github.forget()
    github.push({ repo: DEV, branch: 'pushed', files: clean(replicas), as: 'dora' })
    await stage.settle()
  }
  expect(said(github, DEV, 'pushed')).toMatchObject({ conclusion: 'success' })
  const { kinds, counting } = asked()
  expect(counting.filter(kind => !kind.startsWith('GET '))).toEqual([
    'POST /repos/{owner}/{repo}/check-runs',
    'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
  ])
  expect(counting.length, counting.join('\n')).toBeLessThanOrEqual(9)
  const branches = kinds.filter(kind => kind === 'GET /repos/{owner}/{repo}/branches/{branch}')
  expect(branches.length, 'once in each job').toBeLessThanOrEqual(2)
}, 60_000)

test('a push to the fleet reads the branch of each source once', async () => {
  stage.github.push({ repo: 'acme/fleet', branch: 'main', files: { 'README.md': '# Fleet\n' }, as: 'ada' })
  await stage.settle()
  const paths = stage.github.requests.map(({ path }) => path).filter(path => path.includes('/branches/'))
  expect(paths).toEqual([...new Set(paths)])
}, 60_000)

test('a push to the fleet that changes no verdict writes its own check only', async () => {
  const { github } = stage
  const writes = () =>
    github.requests
      .filter(({ method, route }) => method !== 'GET' && !route.includes('access_tokens'))
      .map(({ path }) => path)
  github.push({ repo: 'acme/fleet', branch: 'main', files: { 'docs.md': '# Unrelated\n' }, as: 'ada' })
  await stage.settle()
  expect(writes()).toEqual(['/repos/acme/fleet/check-runs'])
  expect(github.requests.filter(({ path }) => path.startsWith(`/repos/${DEV}/pulls`))).toEqual([])
  github.forget()
  const path = 'clusters/staging/tenants.yaml'
  const text = github.readFile('acme/fleet', 'main', path)
  github.push({
    repo: 'acme/fleet',
    branch: 'main',
    files: { [path]: text.replace(/interval: \S+/g, 'interval: 7m') },
    as: 'ada',
  })
  await stage.settle()
  expect(writes()).toEqual(['/repos/acme/fleet/check-runs'])
}, 60_000)

test('behind its base, before GitHub has merged it: no more requests, and two to compare the merges', async () => {
  const { github } = stage
  openDev(github, 'behind', clean(6))
  github.push({ repo: DEV, files: { 'docs/note.md': '# Docs\n' }, as: 'ada' })
  await stage.settle()
  Object.assign(github.world, { mergeabilityDelayMs: 300 })
  for (const replicas of [7, 8]) {
    github.forget()
    github.push({ repo: DEV, branch: 'behind', files: clean(replicas), as: 'dora' })
    await stage.settle()
  }
  expect(said(github, DEV, 'behind')).toMatchObject({ conclusion: 'success' })
  const { counting } = asked()
  expect(counting.filter(kind => !kind.startsWith('GET '))).toHaveLength(2)
  expect(counting.length, counting.join('\n')).toBeLessThanOrEqual(14)
}, 60_000)
