import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { clientOf } from '../../../tools/github/acme.ts'
import type { App } from '../../../tools/github/world.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { giveRoles } from './commands.ts'
import { addTidy, CANARY, follower, source, urlOf, withManifest } from './private-sources.ts'
import { DEV } from './red-together.ts'

const REFUSED = 'has no permission to read'

let stage: Stage
let ci: App
let queued: number[] = []
beforeAll(async () => {
  stage = await startStage()
  const { github } = stage
  giveRoles(github, DEV, { rea: 'write', nora: 'write' })
  addTidy(github, 'hidden', ['rea'])
  ci = github.addApp({ slug: 'ci' })
  const checks = [
    { context: CHECK_NAME, appId: github.app.id },
    // never says anything on a group, so each waits as long as the test looks at it
    { context: 'unit', appId: ci.id },
  ]
  github.setProtection(DEV, { checks, mergeQueue: true })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())
afterEach(async () => {
  for (const pull of queued) stage.github.dequeue(DEV, pull, { as: 'ada' })
  queued = []
  await stage.settle()
})

/** At a fixed commit: what somebody else pushes there later is not deployed. */
function adds(): Record<string, string> {
  const pinned = `commit: ${stage.github.commitOf('acme/hidden', 'main')}`
  return withManifest(source('second', urlOf('hidden')).replace('branch: main', pinned) + follower('second'))
}

/** Pull requests that are green alone, one after another in the queue; what is said of all of them together. */
async function queue(name: string, moves: readonly (readonly [string, Readonly<Record<string, string>>])[]) {
  const { github } = stage
  const client = clientOf(github, ci, github.install(ci, 'acme'))
  for (const [index, [as, files]] of moves.entries()) {
    const branch = `${name}-${index}`
    const pull = github.propose({ repo: DEV, branch, files, as })
    const head_sha = github.commitOf(DEV, branch)
    await stage.settle()
    expect(said(github, DEV, branch), said(github, DEV, branch).output.summary ?? '').toMatchObject({
      conclusion: 'success',
    })
    await client.rest.checks.create({ owner: 'acme', repo: 'dev-team', name: 'unit', head_sha, conclusion: 'success' })
    github.enqueue(DEV, pull, { as })
    queued.push(pull)
  }
  await stage.settle()
  const group = github.deliveries.findLast(({ action }) => action === 'checks_requested')!.payload.merge_group
  const run = said(github, DEV, (group as { head_sha: string }).head_sha)
  const page = await fetch(run.detailsUrl ?? '')
  return { run, shown: `${JSON.stringify([run.output, run.annotations])}${await page.text()}` }
}

test('a group is shown what everybody who brought its pull requests may read', async () => {
  const { run, shown } = await queue('both-read', [
    ['rea', adds()],
    ['rea', { 'NOTES.md': 'later\n' }],
  ])
  expect(run).toMatchObject({ conclusion: 'success' })
  expect(shown).not.toContain(REFUSED)
  expect(shown).toContain(CANARY)
}, 60_000)

test.each([
  ['last', 'rea', 'nora'],
  ['first', 'nora', 'rea'],
])(
  'and nothing where the one who comes %s may not',
  async (which, first, second) => {
    const filesOf = (login: string) => (login === 'rea' ? adds() : { 'NOTES.md': `${which}\n` })
    const { run, shown } = await queue(`not-${which}`, [
      [first, filesOf(first)],
      [second, filesOf(second)],
    ])
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.output.title).toContain('Approval required')
    expect(shown).toContain(REFUSED)
    expect(shown).not.toContain(CANARY)
  },
  60_000,
)
