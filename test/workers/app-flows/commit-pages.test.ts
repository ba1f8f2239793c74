import { afterAll, beforeAll, expect, test } from 'vitest'
import { BRANCH_CHECK_NAME, CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { DEV, openDev } from './red-together.ts'

// Markup, a character that reverses what follows, and more than a page shows of a subject.
const TITLE = `<b>README</b> \u202edesrever ${'x'.repeat(400)}`

const FLEET = 'acme/fleet'

let stage: Stage
let pull: number
beforeAll(async () => {
  stage = await startStage()
  const { github } = stage
  github.setProtection(DEV, { checks: [{ context: CHECK_NAME, appId: github.app.id }], mergeQueue: true })
  await stage.settle()
  pull = openDev(github, 'readme', { 'README.md': '# Dev team\n' })
  github.editPullRequest({ repo: DEV, pull, title: TITLE, as: 'dora' })
  await stage.settle()
  github.enqueue(DEV, pull, { as: 'dora' })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** The facts at the top of a page, by their names, without markup. */
async function factsOf(url: string | null | undefined): Promise<Readonly<Record<string, string>>> {
  const page = await (await fetch(url ?? '')).text()
  const facts = [...page.matchAll(/<dt>(.*?)<\/dt><dd>([\s\S]*?)<\/dd>/g)]
  return Object.fromEntries(facts.map(([, name, text = '']) => [name, text.replaceAll(/<[^>]+>/g, '').trim()]))
}

test('the page of a merge group names its base and its pull requests', async () => {
  const group = stage.github.deliveries.findLast(({ action }) => action === 'checks_requested')
  if (!group) throw new Error('the queue asked for no group')
  const { head_sha: sha } = group.payload.merge_group as { head_sha: string }
  const run = stage.github.checkRunsOf(DEV, sha).find(({ name }) => name === CHECK_NAME)
  const facts = await factsOf(run?.detailsUrl)
  expect(facts['Merge group']).toBe('into main')
  const cut = `&lt;b&gt;README&lt;/b&gt; \\u{202e}desrever ${'x'.repeat(300 - 24)}`
  expect(facts['Pull requests in it']).toBe(`#${pull} ${cut} by dora`)
  expect(facts.Commit).toContain(`acme/dev-team@${sha.slice(0, 7)} `)
})

test('the page of a commit of a branch has the branch, its author and its subject', async () => {
  const { github } = stage
  github.push({
    repo: FLEET,
    branch: 'main',
    files: { 'NOTES.md': 'one\n' },
    as: 'ada',
    message: `${TITLE}\n\nwhy`,
  })
  await stage.settle()
  const facts = await factsOf(said(github, FLEET, 'main', BRANCH_CHECK_NAME).detailsUrl)
  expect(facts).toMatchObject({ Branch: 'main', Author: 'ada' })
  expect(facts.Commit).toMatch(/^acme\/fleet@[\da-f]{7} &lt;b&gt;README&lt;\/b&gt; \\u\{202e\}desrever x{276}$/)
  expect(facts.Commit).not.toContain('why')
  const list = await (await fetch(`${stage.site.url}/`)).text()
  for (const about of ['branch main', 'merge group into main', `#${pull} &lt;b&gt;`]) expect(list).toContain(about)
})

test('the page of a pull request has its number, author and branches', async () => {
  const facts = await factsOf(said(stage.github, DEV, 'readme').detailsUrl)
  expect(facts).toMatchObject({ Author: 'dora', Branch: 'readme into main' })
  expect(facts['Pull request']).toContain(`#${pull} &lt;b&gt;README`)
})

test('if GitHub does not list the commit, the verdict stands, and the page leaves it out', async () => {
  const { github } = stage
  github.failNext(
    20,
    404,
    {},
    ({ method, path }) => method === 'GET' && path.split('?')[0] === '/repos/acme/fleet/commits',
  )
  github.push({ repo: FLEET, branch: 'main', files: { 'NOTES.md': 'two\n' }, as: 'ada' })
  await stage.settle()
  const facts = await factsOf(said(github, FLEET, 'main', BRANCH_CHECK_NAME).detailsUrl)
  expect(facts).toMatchObject({ Branch: 'main', Author: 'unknown' })
})
