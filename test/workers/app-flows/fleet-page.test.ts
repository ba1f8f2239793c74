import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { giveRoles, proposeNothing, proposeViolation } from './commands.ts'

const FLEET = 'acme/fleet'
const DEV = 'acme/dev-team'

let stage: Stage
let bad: number
let good: number
beforeAll(async () => {
  stage = await startStage({ settings: { TRAIL: 'on' } })
  giveRoles(stage.github, FLEET, { max: 'maintain' })
  await stage.settle()
  bad = await proposeViolation(stage, 'leaves')
  good = await proposeNothing(stage, 'notes')
}, 60_000)
afterAll(() => stage?.close())

/** Rows of a section of the page of the fleet, as text; by default the open pull requests. */
async function rows(query = '', id = 'pulls'): Promise<readonly string[]> {
  const response = await fetch(`${stage.site.url}/fleets/acme/fleet${query}`)
  const page = await response.text()
  expect([response.status, page.length < 200_000]).toEqual([200, true])
  const start = page.indexOf(`<h2 id="${id}">`)
  const section = page.slice(start, page.indexOf('</section>', start))
  return [...section.matchAll(/<tr><td[\s\S]*?<\/tr>/g)].map(([row]) =>
    row.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
  )
}

async function sweep(): Promise<void> {
  await stage.site.queue.add('sweep', {})
  await stage.settle()
}

test('the page of the fleet lists open pull requests of tenants with their verdicts, blocked ones first', async () => {
  const listed = await rows()
  expect(listed).toHaveLength(2)
  expect(listed[0]).toMatch(new RegExp(`✗ blocked dev-team#${bad} .* 1 violation.* dora .*dev-team .* UTC`))
  expect(listed[1]).toMatch(new RegExp(`✓ passed dev-team#${good} .* dora`))
  expect(await rows('?state=passed')).toHaveLength(1)
  expect(await rows('?tenant=ops-team')).toHaveLength(0)
})

test('the page leads to the page of the verdict', async () => {
  const page = await (await fetch(`${stage.site.url}/fleets/acme/fleet`)).text()
  const path = /href="(\/checks\/acme\/dev-team\/[^"]+)"/.exec(page)?.[1]
  expect((await fetch(`${stage.site.url}${path}`)).status).toBe(200)
})

test('a sweep takes over new titles, and lists what has no stored verdict', async () => {
  stage.github.editPullRequest({ repo: DEV, pull: bad, title: 'Move the report', as: 'dora' })
  await stage.settle()
  expect((await rows())[0]).not.toContain('Move the report')
  await sweep()
  expect((await rows())[0]).toMatch(/✗ blocked .*Move the report/)
  expect(await (await fetch(`${stage.site.url}/fleets/acme/fleet`)).text()).toContain('GitHub listed them <time')
})

test('one that is closed or merged disappears', async () => {
  stage.github.closePullRequest({ repo: DEV, pull: bad, as: 'dora' })
  await stage.settle()
  expect((await rows()).join()).not.toContain(`#${bad}`)
  stage.github.merge({ repo: DEV, pull: good, as: 'ada' })
  await stage.settle()
  expect(await rows()).toEqual([])
})

test('a pull request of a repository that fewer people can see than the fleet is not listed', async () => {
  stage.github.repositoryNamed(FLEET).private = false
  // a push makes the page again, for the people who can see it now
  stage.github.push({ repo: FLEET, files: { 'README.md': 'open\n' }, as: 'ada' })
  await stage.settle()
  const hidden = await proposeViolation(stage, 'hidden')
  await sweep()
  expect((await rows()).join()).not.toContain(`#${hidden}`)
  stage.github.repositoryNamed(DEV).private = false
  await sweep()
  expect((await rows()).join()).toMatch(new RegExp(`not stored dev-team#${hidden} `))
}, 60_000)
