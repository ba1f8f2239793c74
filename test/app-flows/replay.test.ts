import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendDecisions } from '../../src/trail/append-decisions.ts'
import { TRAIL_BRANCH } from '../../src/trail/trail-files.ts'
import type { TrailEvaluation, TrailInputs } from '../../src/trail/trail-inputs.ts'
import { verifyTrail } from '../../src/trail/verify-trail.ts'
import { repository, run, scratch } from '../cli/run-main.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { writeClone } from '../story/write-clone.ts'
import { command, giveRoles, nextSecond, proposeViolation } from './commands.ts'

const FLEET = 'acme/fleet'
const REPO = 'acme/dev-team'

let stage: Stage
let folder: string
let pull: number
let behind: number
beforeAll(async () => {
  stage = await startStage({ settings: { TRAIL: 'on' } })
  giveRoles(stage.github, FLEET, { max: 'maintain' })
  await stage.settle()
  pull = await proposeViolation(stage, 'leaves')
  await nextSecond()
  await command(stage, { repo: REPO, issue: pull, as: 'max', body: '/bailiwick override for-the-test' })
  behind = await proposeBehindMain()
  await guardedChange()
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-replay-'))
  for (const repo of [FLEET, REPO, 'acme/ops-team'])
    writeClone(stage.github, repo, join(folder, repo.replace('/', '-')))
})
afterAll(async () => {
  await stage?.close()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** A branch that main has left behind: its test merge holds what neither of them does. */
async function proposeBehindMain(): Promise<number> {
  const { github } = stage
  const parent = github.commitOf(REPO, 'main')
  github.push({ repo: REPO, branch: 'main', files: { 'docs.md': 'text\n' }, as: 'ada' })
  github.push({ repo: REPO, branch: 'behind', parent, files: { 'notes.md': 'text\n' }, as: 'dora' })
  const { number } = github.openPullRequest({ repo: REPO, head: 'behind', as: 'dora' }).issue
  await stage.settle()
  return number
}

/** A change of a guarded file, which another fleet admin approves. */
async function guardedChange(): Promise<void> {
  const { github } = stage
  const parent = github.commitOf(FLEET, 'main')
  const files = { '.github/CODEOWNERS': '* @acme/platform\n' }
  github.push({ repo: FLEET, branch: 'owners', parent, files, as: 'otto' })
  const { number } = github.openPullRequest({ repo: FLEET, head: 'owners', as: 'otto' }).issue
  await stage.settle()
  github.review({ repo: FLEET, pull: number, as: 'max', state: 'APPROVED' })
  await stage.settle()
}

const entries = () =>
  verifyTrail(
    stage.github.filesOf(FLEET, TRAIL_BRANCH).map(path => ({
      path,
      bytes: Buffer.from(stage.github.readFile(FLEET, TRAIL_BRANCH, path) ?? ''),
    })),
  ).entries
const replay = (seq: number, ...args: string[]) => run(join(folder, 'acme-fleet'), 'replay', String(seq), ...args)

test('every verdict of the trail is made again, with the same hashes', async () => {
  const verdicts = entries().filter(({ kind }) => kind === 'verdict')
  expect(verdicts.length).toBeGreaterThanOrEqual(4)
  expect(new Set(verdicts.map(({ result }) => result))).toEqual(new Set(['success', 'failure']))
  for (const { seq } of verdicts) {
    const { code, stdout, stderr } = await replay(seq, '--repos-dir', folder)
    expect([code, stdout.split('\n')[0], stderr]).toEqual([0, `Entry ${seq}: the verdict is the same.`, ''])
  }
})

test('an approval is an entry with the name of who gave it, before the verdict that counts it', () => {
  const all = entries()
  const approvals = all.filter(({ kind }) => kind === 'approval')
  expect(approvals.map(({ who, result, repository }) => [who, result, repository])).toContainEqual([
    'max',
    'gate-config-change',
    FLEET,
  ])
  const { seq, commit } = approvals[0]!
  const after = all.find(one => one.seq > seq && one.kind === 'verdict' && one.commit === commit)
  expect(after?.inputs?.people.approvals).toEqual([{ rule: 'gate-config-change', by: 'max' }])
  expect(after?.result).toBe('success')
})

test('the entry of an overridden verdict names who did', () => {
  const found = entries().find(one => one.pull === pull && one.inputs?.people.override !== undefined)
  expect(found).toMatchObject({ result: 'success', inputs: { people: { override: 'max' } } })
})

test('contents that no clone has are listed, and nothing is guessed', async () => {
  const { seq } = entries().find(one => one.kind === 'verdict' && one.pull === pull)!
  const { code, stderr } = await replay(seq)
  expect(code).toBe(2)
  expect(stderr).toContain('error[git-missing]')
  expect(stderr).toContain('https://github.com/acme/dev-team at ')
})

test('a test merge that GitHub has forgotten is made again from its commits', async () => {
  const { seq } = entries().find(one => one.kind === 'verdict' && one.pull === behind)!
  const partial = mkdtempSync(join(tmpdir(), 'bailiwick-replay-'))
  try {
    execFileSync('git', ['init', '-q', '--bare', partial])
    execFileSync('git', ['-C', partial, 'fetch', '-q', join(folder, 'acme-dev-team'), '+refs/heads/*:refs/heads/*'])
    const merge = stage.github.repositoryNamed(REPO).refs.get(`refs/pull/${behind}/merge`)!
    expect(() => execFileSync('git', ['-C', partial, 'cat-file', '-e', merge], { stdio: 'pipe' })).toThrow()
    const given = ['dev-team', 'ops-team'].flatMap(name => {
      const dir = name === 'dev-team' ? partial : join(folder, 'acme-ops-team')
      return ['--repo', `https://github.com/acme/${name}=${dir}`]
    })
    const { code, stderr } = await replay(seq, ...given)
    expect([code, stderr]).toEqual([0, ''])
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
})

test.each<[string, (inputs: TrailInputs) => TrailInputs]>([
  [
    'an approval is taken out',
    inputs => ({ ...inputs, people: { ...inputs.people, missing: ['gate-config-change'] } }),
  ],
  ['the hash is another', inputs => ({ ...inputs, verdict: 'a'.repeat(64) })],
  [
    'a fact is another',
    inputs => ({ ...inputs, fleets: inputs.fleets.map(one => ({ ...one, verdict: 'a'.repeat(64) })) }),
  ],
  ['commits are those of another change', inputs => ({ ...inputs, fleets: inputs.fleets.map(asBase) })],
])('where %s, the verdict is another', async (_, change) => {
  const found = entries().findLast(
    one => one.kind === 'verdict' && one.result === 'success' && one.inputs!.fleets[0]?.base,
  )!
  const { seq: _seq, previous: _previous, ...decision } = found
  const { file } = appendDecisions([{ ...decision, inputs: change(found.inputs!) }], undefined, [])!
  const dir = scratch()
  repository(dir, { [file.path]: Buffer.from(file.bytes).toString('utf8') })
  const { code, stdout } = await run(dir, 'replay', '1', '--ref', 'main', '--repos-dir', folder)
  expect([code, stdout.split('\n')[0]]).toEqual([1, 'Entry 1: the verdict is another.'])
})

/** Compares the base with itself. */
const asBase = (one: TrailEvaluation): TrailEvaluation => ({ ...one, head: one.base! })

test('what is not a verdict is refused', async () => {
  const { seq } = entries().find(({ kind }) => kind === 'override')!
  const { code, stderr } = await replay(seq, '--repos-dir', folder)
  expect(code).toBe(2)
  expect(stderr).toContain(`entry ${seq} cannot be replayed: it is "override"`)
})
