import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { lastRun } from './commands.ts'

const REPO = 'acme/fleet'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** A pull request of one file; its number. */
async function propose(branch: string, path: string, as: string, text = '# nothing\n'): Promise<number> {
  const { github } = stage
  github.push({ repo: REPO, branch, parent: github.commitOf(REPO, 'main'), files: { [path]: text }, as })
  const { number } = github.openPullRequest({ repo: REPO, head: branch, as }).issue
  await stage.settle()
  return number
}

const runOf = (branch: string) => lastRun(stage.github, REPO, branch)

const GUARDED: readonly [branch: string, path: string, rule: string][] = [
  ['config', '.github/bailiwick.yaml', 'gate-config-change'],
  ['baseline', '.github/bailiwick-baseline.yaml', 'gate-config-change'],
  ['owners', '.github/CODEOWNERS', 'gate-config-change'],
  ['owners-above', 'CODEOWNERS', 'gate-config-change'],
  ['workflow', '.github/workflows/deploy.yaml', 'gate-workflow-change'],
]

test.for(GUARDED)(
  '%s waits until a fleet admin agrees to this head',
  { timeout: 60_000 },
  async ([branch, path, rule]) => {
    const text = path.endsWith('baseline.yaml')
      ? 'violations: []\n'
      : path.endsWith('bailiwick.yaml')
        ? 'profile: baseline\n'
        : '* @acme\n'
    const pull = await propose(branch, path, 'otto', text)
    expect(runOf(branch)).toMatchObject({ status: 'completed', conclusion: 'failure' })
    expect(runOf(branch)?.output.summary).toContain(rule)
    stage.github.review({ repo: REPO, pull, state: 'APPROVED', as: 'mallory' })
    await stage.settle()
    expect(runOf(branch)?.conclusion).toBe('failure')
    stage.github.review({ repo: REPO, pull, state: 'APPROVED', as: 'ada' })
    await stage.settle()
    expect(runOf(branch)?.conclusion).toBe('success')
    stage.github.push({ repo: REPO, branch, files: { 'README.md': 'other\n' }, as: 'otto' })
    await stage.settle()
    expect(runOf(branch)?.conclusion).toBe('failure')
  },
)

test('what a fleet admin opened and pushed waits for nobody; what another one pushed to it does', async () => {
  await propose('own', 'CODEOWNERS', 'ada')
  expect(runOf('own')?.conclusion).toBe('success')
  stage.github.push({ repo: REPO, branch: 'own', files: { CODEOWNERS: '* @otto\n' }, as: 'otto' })
  await stage.settle()
  expect(runOf('own')?.conclusion).toBe('failure')
})

test('a fork waits for a maintainer where the fleet says so, and for the one of this head', async () => {
  const { github } = stage
  const [repo, fork] = ['acme/dev-team', 'mallory/dev-team']
  github.push({ repo: REPO, branch: 'main', files: { '.github/bailiwick.yaml': 'forks: approve\n' }, as: 'ada' })
  github.addRepository({ owner: 'mallory', name: 'dev-team', forkOf: repo })
  const files = { 'base/note.yaml': 'a: 1\n' }
  github.push({ repo: fork, branch: 'idea', parent: github.commitOf(fork, 'main'), files, as: 'mallory' })
  const pull = github.openPullRequest({ repo, headRepo: fork, head: 'idea', as: 'mallory' }).issue.number
  await stage.settle()
  const run = () => github.checkRunsOf(repo, `refs/pull/${pull}/head`).at(-1)
  expect(run()).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(run()?.output.summary).toContain('gate-fork-untrusted')
  github.review({ repo, pull, state: 'APPROVED', as: 'dora' })
  await stage.settle()
  expect(run()?.conclusion).toBe('success')
}, 60_000)
