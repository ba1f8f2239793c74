import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { clientOf } from '../../../tools/github/acme.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { reportOf, surveyAgain } from './survey.ts'

const FLEET = 'acme/fleet'
const DEV = 'acme/dev-team'
const REAL = '✅ required from this App'
const WEAK = '⚠️ required from this App, but can be bypassed'
const OPEN = '❌ not required from this App'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

const open = { required_approving_review_count: 0, require_code_owner_review: false, require_last_push_approval: false }
const required = (app: number | undefined) => [
  { type: 'deletion' as const },
  { type: 'non_fast_forward' as const },
  {
    type: 'pull_request' as const,
    parameters: { ...open, dismiss_stale_reviews_on_push: false, required_review_thread_resolution: false },
  },
  {
    type: 'required_status_checks' as const,
    parameters: {
      required_status_checks: [{ context: CHECK_NAME, ...(app === undefined ? {} : { integration_id: app }) }],
      strict_required_status_checks_policy: true,
    },
  },
]

/** What the report says of the fleet's own branch: the state, and what is missing. */
function gateOf(repo = FLEET): { state: string; gaps: string[] } {
  const { body } = reportOf(stage.github)
  const state = body.split('\n').find(line => line.startsWith(`| \`github.com/${repo}\` | \`main\` |`))
  const start = body.search(new RegExp(`^.*\`github.com/${repo}\` \`main\`.*:$`, 'm'))
  const gaps = start < 0 ? [] : (body.slice(start).split('\n\n')[1] ?? '').split('\n')
  return { state: state?.split(' | ')[2]?.replace(/ \|$/, '') ?? '', gaps }
}

async function looked(repo?: string) {
  await surveyAgain(stage)
  return gateOf(repo)
}

const rulesetsOf = (repo: string) => {
  const { github } = stage
  return [...github.world.rulesets.values()].filter(({ source }) => source === github.repositoryNamed(repo))
}

/** Changes settings without an event: what is looked at again by itself waits some seconds for more of them. */
function quietly(change: (github: Stage['github']) => void): void {
  const { github } = stage
  const url = github.app.webhookUrl
  github.app.webhookUrl = undefined
  change(github)
  github.app.webhookUrl = url
}

const cleared = () =>
  quietly(github => {
    for (const repo of [FLEET, DEV]) github.repositoryNamed(repo).protection.clear()
    for (const ruleset of [...github.world.rulesets.values()]) github.removeRuleset(ruleset)
  })

describe('what GitHub asks for is judged', () => {
  beforeEach(cleared)

  test('nothing requires the check', async () => {
    const { state, gaps } = await looked()
    expect(state).toBe(OPEN)
    expect(gaps).toEqual([
      `- ❌ nothing requires \`${CHECK_NAME}\`. **Fix:** Require the check, with this App as its source.`,
    ])
  }, 120_000)

  test('classic protection from anybody, of another App, of ours', async () => {
    const { id } = stage.github.app
    const strong = { strict: true, enforceAdmins: true, requirePullRequest: true }
    const protect = (appId: number | null, more: object = strong) =>
      quietly(github => void github.setProtection(FLEET, { checks: [{ context: CHECK_NAME, appId }], ...more }))
    protect(null)
    expect((await looked()).gaps[0]).toContain('from any source: anyone who can set a status can pass it')
    protect(4242)
    expect((await looked()).gaps[0]).toContain('from another App')
    protect(id)
    expect(await looked()).toEqual({ state: REAL, gaps: [] })
    protect(id, { allowForcePushes: true, allowDeletions: true })
    const { state, gaps } = await looked()
    expect(state).toBe(WEAK)
    expect(gaps.map(line => line.split('**Fix:**')[0])).toEqual([
      '- ⚠️ every administrator of the repository can bypass the branch protection. ',
      '- ⚠️ a pull request can be merged with a verdict for an older base. ',
      '- ⚠️ commits can be pushed without a pull request. ',
      '- ⚠️ force pushes can replace the evaluated commits with other ones. ',
      '- ⚠️ the branch can be deleted and created again from any commit. ',
    ])
  }, 120_000)

  test('a ruleset of the repository: bound, from anybody, evaluated only', async () => {
    const set = (options: object) => quietly(github => void github.setRuleset(FLEET, { name: 'main', ...options }))
    const rules = required(stage.github.app.id)
    set({ rules })
    // who may bypass it is not shown to an App without administration: write
    expect(await looked()).toMatchObject({
      state: REAL,
      gaps: [expect.stringContaining('GitHub shows who can bypass the ruleset')],
    })
    set({ rules: required(undefined) })
    expect((await looked()).gaps[0]).toContain('the ruleset `main` requires')
    set({ rules, enforcement: 'evaluate' })
    const { state, gaps } = await looked()
    expect(state).toBe(OPEN)
    expect(gaps[1]).toContain(
      'the ruleset `main` requires the check, but its enforcement status is Evaluate, which does not block',
    )
  }, 120_000)

  test('a ruleset of the organisation counts for every repository that it means', async () => {
    const { github } = stage
    const conditions = {
      ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] },
      repository_name: { include: ['~ALL'], exclude: [] },
    }
    const rules = required(github.app.id)
    quietly(() => void github.setOrganizationRuleset('acme', { name: 'all', rules, conditions }))
    expect((await looked()).state).toBe(REAL)
    expect(gateOf(DEV).state).toBe(REAL)
    cleared()
    expect((await looked()).state).toBe(OPEN)
  }, 120_000)

  test('GH-06: another App that reports a check of the same name is named', async () => {
    const { github } = stage
    const forger = github.addApp({ slug: 'forger' })
    const client = clientOf(github, forger, github.install(forger, 'acme'))
    const head_sha = github.commitOf(FLEET, 'main')
    const run = { owner: 'acme', repo: 'fleet', name: CHECK_NAME, head_sha, conclusion: 'success' } as const
    await client.rest.checks.create(run)
    expect((await looked()).gaps).toContainEqual(
      expect.stringContaining('the App `forger` reports a check of the same name here'),
    )
  }, 120_000)
})

test('protection that is removed is noticed by itself', async () => {
  const { github } = stage
  const ruleset = github.setRuleset(FLEET, { name: 'main', rules: required(github.app.id) })
  await surveyAgain(stage)
  expect(gateOf().state).toBe(REAL)
  github.removeRuleset(ruleset)
  await stage.settle()
  expect(gateOf().state).toBe(OPEN)
}, 60_000)

describe('/bailiwick gate', () => {
  const ask = async (as: string) => {
    const { github } = stage
    const issue = reportOf(github).number
    const comment = github.comment({ repo: FLEET, issue, body: '/bailiwick gate', as })
    await stage.settle()
    const [, reply] = github.commentsOf(FLEET, issue).filter(one => one.id >= comment.id)
    return { reactions: comment.reactions.map(one => one.content), reply: reply?.body }
  }
  beforeEach(cleared)

  test('is for fleet admins', async () => {
    expect(await ask('otto')).toEqual({
      reactions: ['-1'],
      reply: expect.stringContaining('you are not a fleet admin'),
    })
    expect(rulesetsOf(FLEET)).toHaveLength(0)
  }, 120_000)

  test('without the permission it answers with what to click, and the file to import', async () => {
    const { reactions, reply } = await ask('ada')
    expect(reactions).toContain('rocket')
    expect(reply).toContain('it lacks **Administration: write**')
    const file: unknown = JSON.parse(/```json\n([\s\S]*?)\n```/.exec(reply ?? '')?.[1] ?? '')
    expect(file).toMatchObject({
      ...{ name: 'Bailiwick', target: 'branch', enforcement: 'active', bypass_actors: [] },
      conditions: { ref_name: { include: ['refs/heads/main'] } },
    })
    expect(JSON.stringify(file)).toContain(`"context":"${CHECK_NAME}","integration_id":${stage.github.app.id}`)
  }, 120_000)

  test('with it, it sets a ruleset in each repository that the person administers, and no other', async () => {
    const { github } = stage
    const [installation] = github.world.installations.values()
    installation!.permissions = { ...installation!.permissions, administration: 'write' }
    await stage.restart()
    await stage.settle()
    const before = github.merge({ repo: DEV, pull: await opened(), as: 'dora' })
    expect(before).toMatchObject({ status: 200 })
    expect(await ask('ada')).toMatchObject({ reactions: expect.arrayContaining(['rocket']), reply: undefined })
    for (const repo of [FLEET, DEV]) {
      expect(rulesetsOf(repo).map(({ name }) => name)).toEqual(['Bailiwick'])
      expect(gateOf(repo)).toEqual({ state: REAL, gaps: [] })
    }
    expect((await ask('ada')).reply).toContain('is already required from this App everywhere')
    const forced = () => github.push({ repo: DEV, branch: 'main', files: { x: 'y' }, as: 'dora' })
    expect(forced).toThrow()
  }, 120_000)

  test('it keeps the branches that it held before', async () => {
    const { github } = stage
    await ask('ada')
    const [ruleset] = rulesetsOf(DEV)
    const conditions = { ref_name: { include: ['refs/heads/other'], exclude: [] } }
    quietly(() => void github.setRuleset(DEV, { name: ruleset!.name, conditions }))
    await ask('ada')
    expect(rulesetsOf(DEV)[0]?.conditions).toMatchObject({
      ref_name: { include: ['refs/heads/main', 'refs/heads/other'] },
    })
  }, 120_000)

  test('the rights of the App are not lent: who only maintains a repository does not get it set there', async () => {
    const { github } = stage
    github.addUser('lena')
    github.setRole(FLEET, 'lena', 'maintain')
    github.setRole(DEV, 'lena', 'admin')
    const { reply } = await ask('lena')
    expect(reply).toContain('because you do not administer it: `github.com/acme/fleet` (`main`)')
    expect(rulesetsOf(FLEET)).toHaveLength(0)
    expect(rulesetsOf(DEV)).toHaveLength(1)
  }, 120_000)
})

describe('without the permission to read protection', () => {
  beforeAll(async () => {
    const [installation] = stage.github.world.installations.values()
    const { administration: _, ...rest } = installation!.permissions
    installation!.permissions = rest
    await stage.restart()
    await stage.settle()
  }, 120_000)
  beforeEach(cleared)

  test('what the branch itself tells is enough to know whom it asks; the rest is said to be unknown', async () => {
    const protect = (appId: number | null) =>
      quietly(github => void github.setProtection(FLEET, { checks: [{ context: CHECK_NAME, appId }] }))
    protect(stage.github.app.id)
    const { state, gaps } = await looked()
    expect(state).toBe(REAL)
    expect(gaps).toHaveLength(5)
    expect(gaps.every(line => line.startsWith('- ℹ️ '))).toBe(true)
    protect(null)
    expect((await looked()).state).toBe(OPEN)
    quietly(github => void github.setProtection(FLEET, {}))
    expect((await looked()).state).toBe('❔ GitHub does not show it')
    cleared()
    expect((await looked()).state).toBe(OPEN)
  }, 120_000)
})

/** A harmless pull request of the tenant, evaluated. */
async function opened(): Promise<number> {
  const { github } = stage
  github.push({
    repo: DEV,
    branch: 'notes',
    parent: github.commitOf(DEV, 'main'),
    files: { 'NOTES.md': 'x' },
    as: 'dora',
  })
  const { number } = github.openPullRequest({ repo: DEV, head: 'notes', as: 'dora' }).issue
  await stage.settle()
  return number
}

test('GitHub had nothing to complain about', () => {
  const { github } = stage
  expect([github.violations, github.unknown, github.responseViolations]).toEqual([[], [], []])
})
