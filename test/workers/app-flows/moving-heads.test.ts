import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { said, saidOfTip } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, IN_BASE, IN_STAGING, openDev, withResource } from './red-together.ts'

const ESCAPE = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** Does something in the middle: when the App asks for the first path that fits, before it is answered. */
function meanwhile(fits: RegExp, act: () => void): () => boolean {
  let done = false
  stage.github.failNext(1, 500, {}, ({ method, path }) => {
    if (!done && method === 'GET' && fits.test(path)) {
      done = true
      act()
    }
    return false
  })
  return () => done
}

const runsOf = (sha: string) => stage.github.checkRunsOf(DEV, sha).filter(run => run.name === CHECK_NAME)

test('a head that moves while it is judged gets no verdict; the new head gets its own', async () => {
  const { github } = stage
  let second = ''
  const happened = meanwhile(/dev-team\/git\/trees\//, () => {
    second = github.push({ repo: DEV, branch: 'race', files: ESCAPE, as: 'dora' }).sha
  })
  openDev(github, 'race', { 'base/note.yaml': '# nothing\n' })
  const first = github.commitOf(DEV, 'race')
  await stage.settle()
  expect(happened()).toBe(true)
  expect(second).not.toBe(first)
  // a slow evaluation is announced first
  expect(runsOf(first).filter(({ conclusion }) => conclusion !== 'cancelled')).toEqual([])
  expect(runsOf(second)).toMatchObject([{ status: 'completed', conclusion: 'failure' }])
}, 60_000)

test('a pull request that is led elsewhere while it is judged is judged for where it aims', async () => {
  const { github } = stage
  github.pushRef({ repo: DEV, branch: 'scratch', sha: github.commitOf(DEV, 'main'), as: 'dora' })
  github.push({ repo: DEV, branch: 'led', parent: github.commitOf(DEV, 'main'), files: ESCAPE, as: 'dora' })
  const happened = meanwhile(/dev-team\/git\/commits\//, () => {
    github.editPullRequest({ repo: DEV, pull, base: 'main', as: 'dora' })
  })
  const pull = github.openPullRequest({ repo: DEV, head: 'led', base: 'scratch', as: 'dora' }).issue.number
  await stage.settle()
  expect(happened()).toBe(true)
  const runs = runsOf(github.commitOf(DEV, 'led'))
  expect(runs.map(run => run.conclusion)).toEqual(['failure'])
}, 60_000)

test('a draft is judged like any other, and saying that it is ready writes nothing', async () => {
  const { github } = stage
  const pull = github.propose({ repo: DEV, branch: 'draft', files: ESCAPE, draft: true, as: 'dora' })
  await stage.settle()
  expect(said(github, DEV, 'draft')).toMatchObject({ conclusion: 'failure' })
  github.forget()
  github.readyForReview({ repo: DEV, pull, as: 'dora' })
  await stage.settle()
  expect(github.requests.filter(({ method, route }) => method !== 'GET' && !route.includes('access_tokens'))).toEqual(
    [],
  )
}, 60_000)

test('what lay aside unread and is renamed into a directory that is read is judged', async () => {
  const { github } = stage
  github.push({ repo: DEV, files: { 'attic/stray.yaml': deploymentFile('stray', 'kube-system') }, as: 'ada' })
  await stage.settle()
  expect(saidOfTip(github, DEV)).toMatchObject({ conclusion: 'success' })
  github.push({
    repo: DEV,
    branch: 'rename',
    parent: github.commitOf(DEV, 'main'),
    files: ESCAPE,
    remove: ['attic/stray.yaml'],
    as: 'dora',
  })
  github.openPullRequest({ repo: DEV, head: 'rename', as: 'dora' })
  await stage.settle()
  const run = said(github, DEV, 'rename')
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.annotations).toMatchObject([{ path: 'staging/stray.yaml', start_line: 5 }])
}, 60_000)

test('two that pass alone: as soon as one is merged the other is red, and its old verdict is gone', async () => {
  const { github } = stage
  const [one, other] = [openDev(github, 'one', IN_BASE), openDev(github, 'other', IN_STAGING)]
  await stage.settle()
  for (const branch of ['one', 'other']) expect(said(github, DEV, branch)).toMatchObject({ conclusion: 'success' })
  expect(github.merge({ repo: DEV, pull: one, as: 'dora' })).toMatchObject({ status: 200 })
  await stage.settle()
  const run = said(github, DEV, 'other')
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.title).toMatch(/^Could not be evaluated: /)
  expect(github.merge({ repo: DEV, pull: other, as: 'dora' })).toMatchObject({ status: 405 })
}, 60_000)

test('behind its base: no wait for GitHub, whose own merge is looked at later; another one is an error', async () => {
  const { github } = stage
  Object.assign(github.world, { mergeabilityDelayMs: 1_000 })
  const pull = openDev(github, 'behind', { 'base/note.yaml': '# nothing\n' })
  github.push({ repo: DEV, files: { 'docs/note.md': '# Docs\n' }, as: 'ada' })
  await stage.settle()
  const looks = () =>
    github.requests.flatMap(({ method, path }) =>
      path === `/repos/${DEV}/pulls/${pull}` || (method === 'POST' && path.endsWith('/check-runs')) ? [method] : [],
    )
  const push = async (text: string) => {
    github.forget()
    github.push({ repo: DEV, branch: 'behind', files: { 'base/note.yaml': text }, as: 'dora' })
    await stage.settle()
  }
  await push('# once\n')
  expect(said(github, DEV, 'behind')).toMatchObject({ conclusion: 'success' })
  expect(looks().slice(0, 3), 'the check comes before another look at the pull request').toEqual(['GET', 'POST', 'GET'])
  const happened = meanwhile(/\/check-runs$/, () => {
    const made = github.pullRequest(DEV, pull)
    const [base, head] = [github.commitOf(DEV, 'main'), github.commitOf(DEV, 'behind')]
    const { store } = [...github.world.repositories.values()].find(one => one.name === 'dev-team')!
    const { sha: _sha, ...commit } = store.commit(made.mergeCommit!)!
    made.mergeCommit = store.putCommit({ ...commit, tree: store.commit(base)!.tree, parents: [base, head] })
  })
  await push('# twice\n')
  expect(happened()).toBe(true)
  const differs = said(github, DEV, 'behind')
  expect(differs).toMatchObject({ conclusion: 'failure' })
  expect(differs.output.title).toBe('Could not be evaluated: GitHub merges this differently')
  github.rerequest(DEV, differs.id, { as: 'dora' })
  await stage.settle()
  expect(said(github, DEV, 'behind').output.title).not.toContain('differently')
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
