import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, nextSecond } from './commands.ts'
import { outputsOf } from './outputs.ts'
import {
  addInternal,
  addPrivate,
  CANARY,
  follower,
  source,
  urlOf,
  withManifest,
  withPlatformManifest,
} from './private-sources.ts'
import { DEV } from './red-together.ts'

const FLEET = 'acme/fleet'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  const { github } = stage
  giveRoles(github, DEV, { rea: 'write', nora: 'write', mallory: 'write' })
  giveRoles(github, FLEET, { rea: 'write' })
  addPrivate(github, 'hidden', ['rea'])
  addInternal(github, 'inner')
  github.addRepository({ owner: 'finn', name: 'dev-team', forkOf: DEV, roles: { finn: 'admin' } })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())
beforeEach(() => stage.github.forget())

const ADDS = withManifest(source('second', urlOf('hidden')) + follower('second'))
const BUMP = { 'NOTES.md': 'later\n' }
const REFUSED = 'has no permission to read'

interface Move {
  readonly as: string
  readonly files: Readonly<Record<string, string>>
}

/** A pull request of `author` whose branch these people pushed to, in turn. */
async function brought(branch: string, author: string, moves: readonly Move[], repo = DEV) {
  const { github } = stage
  const [first, ...others] = moves
  github.push({ repo, branch, parent: github.commitOf(repo, 'main'), message: branch, ...first! })
  for (const move of others) github.push({ repo, branch, ...move })
  github.openPullRequest({ repo, head: branch, as: author })
  await stage.settle()
  return { run: said(github, repo, branch), outputs: await outputsOf(stage) }
}

test('who may read the repository is shown it', async () => {
  const { run, outputs } = await brought('reader', 'rea', [{ as: 'rea', files: ADDS }])
  expect(run.output.summary).not.toContain(REFUSED)
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(outputs).toContain(CANARY)
}, 60_000)

test.each<[string, string, readonly Move[]]>([
  [
    'another person pushed to the head',
    'rea',
    [
      { as: 'rea', files: BUMP },
      { as: 'nora', files: ADDS },
    ],
  ],
  [
    'another person pushed before',
    'rea',
    [
      { as: 'nora', files: ADDS },
      { as: 'rea', files: BUMP },
    ],
  ],
  ['another person opened it', 'nora', [{ as: 'rea', files: ADDS }]],
])(
  'nothing is shown where %s, who may not',
  async (_what, author, moves) => {
    const { run, outputs } = await brought(`mixed-${author}-${moves[0]!.as}-${moves.length}`, author, moves)
    expect(outputs).not.toContain(CANARY)
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.output.summary).toContain(REFUSED)
  },
  60_000,
)

test('an internal repository is not a public one: a member of the organization is shown it, and nobody from outside', async () => {
  const files = withManifest(source('second', urlOf('inner')) + follower('second'))
  const member = await brought('inner-member', 'mallory', [{ as: 'mallory', files }])
  expect(member.run.output.summary).not.toContain(REFUSED)
  expect(member.outputs).toContain(CANARY)
  stage.github.forget()
  const { run, outputs } = await brought('inner-outside', 'nora', [{ as: 'nora', files }])
  expect(outputs).not.toContain(CANARY)
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.summary).toContain(REFUSED)
}, 60_000)

test('nothing is shown to a fork whose pushers nobody knows', async () => {
  const { github } = stage
  github.push({ repo: 'finn/dev-team', branch: 'look', parent: github.commitOf(DEV, 'main'), files: ADDS, as: 'finn' })
  github.openPullRequest({ repo: DEV, headRepo: 'finn/dev-team', head: 'look', as: 'finn' })
  await stage.settle()
  expect(await outputsOf(stage)).not.toContain(CANARY)
  expect(said(github, DEV, github.commitOf('finn/dev-team', 'look'))).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('an onboarding is read where its author may read the tenant, and else not visible, without an error', async () => {
  const manifests = withPlatformManifest(source('late', urlOf('hidden')) + follower('late'))
  const may = await brought('onboard-may', 'rea', [{ as: 'rea', files: manifests }], FLEET)
  expect(may.outputs).toContain(CANARY)
  stage.github.forget()
  const not = await brought('onboard-not', 'otto', [{ as: 'otto', files: manifests }], FLEET)
  expect(not.outputs).not.toContain(CANARY)
  expect(not.run.output.summary).toContain(REFUSED)
  expect(not.run).toMatchObject({ conclusion: 'success' })
}, 60_000)

test.each([
  ['who may not read it pushed there', 'nora', false],
  ['who may read it pushed there', 'rea', true],
])(
  'a pull request of the App that an admin approves, after a person %s',
  async (_what, as, isShown) => {
    const { github } = stage
    giveRoles(github, FLEET, { nora: 'write' })
    const name = `late-${as}`
    github.addRepository({ owner: 'acme', name, files: { 'README.md': name }, roles: { ada: 'admin' } })
    await stage.settle()
    const issue = github.issue({ repo: FLEET, title: 'A tenant', as: 'ada' }).number
    const asked = `/bailiwick onboard ${name} --repo ${urlOf(name)} --namespace ${name} --cluster staging`
    expect((await command(stage, { repo: FLEET, issue, as: 'ada', body: asked })).replies).toEqual([])
    const { number, sha } = pushedOnto(`bailiwick/onboard-${name}`, as)
    await stage.settle()
    expect(await outputsOf(stage), 'the request approved another commit').not.toContain(CANARY)
    github.forget()
    await nextSecond()
    const { reactions } = await command(stage, { repo: FLEET, issue: number, as: 'ada', body: '/bailiwick approve' })
    expect(reactions).toContain('rocket')
    const run = said(github, FLEET, sha)
    expect((await outputsOf(stage)).includes(CANARY)).toBe(isShown)
    if (!isShown) expect(run.output.summary).toContain(REFUSED)
  },
  60_000,
)

/** A platform manifest that reads the private repository, on the branch of a pull request of our bot. */
function pushedOnto(branch: string, as: string) {
  const { github } = stage
  const pull = github.pullRequestsOf(FLEET).find(({ head }) => head.ref === branch)!
  const files = withPlatformManifest(source('late', urlOf('hidden')) + follower('late'))
  return { number: pull.issue.number, sha: github.push({ repo: FLEET, branch, as, files }).sha }
}

test('a declaration that is on the base is existing: nobody is asked any more, and nothing blocks', async () => {
  const { github } = stage
  github.push({ repo: DEV, files: ADDS, as: 'ada' })
  await stage.settle()
  github.forget()
  const { run, outputs } = await brought('afterwards', 'rea', [{ as: 'rea', files: BUMP }])
  expect(outputs).not.toContain(CANARY)
  expect(run.output.summary).toContain(REFUSED)
  expect(run).toMatchObject({ conclusion: 'success' })
}, 60_000)
