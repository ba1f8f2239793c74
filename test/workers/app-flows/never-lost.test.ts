import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { said, saidOfTip } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'

const TEAM = 'acme/dev-team'
const OPS = 'acme/ops-team'
const GATE = 'bailiwick / tenancy'
const NOBODY = 'http://127.0.0.1:9/api/github/webhooks'

let stage: Stage
beforeAll(async () => {
  stage = await startStage({ retry: { attempts: 2, backoffMs: 50 } })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())
afterEach(() => {
  stage.github.app.webhookUrl = `${stage.site.url}/api/github/webhooks`
})

/** A pull request of Ada's onto main with one file; its branch. */
function open(branch: string, files: Record<string, string>, repo = TEAM): number {
  const { github } = stage
  return github.propose({ repo, branch, files, as: 'ada' })
}

const runsOf = (branch: string, repo = TEAM) => stage.github.checkRunsOf(repo, branch).filter(run => run.name === GATE)

/** What happens on GitHub meanwhile reaches nobody: every delivery fails. */
async function unheard(happening: () => void): Promise<void> {
  const { github } = stage
  const { webhookUrl } = github.app
  github.app.webhookUrl = NOBODY
  happening()
  await github.idle()
  github.app.webhookUrl = webhookUrl
}

/** Moves the attempts of GitHub's log into the past. */
function later(minutes: number): void {
  for (const delivery of stage.github.deliveries) {
    Object.assign(delivery, { at: new Date(Date.parse(delivery.at) - minutes * 60_000).toISOString() })
  }
}

async function job(name: 'sweep' | 'redeliver'): Promise<void> {
  await stage.site.queue.add(name, {})
  await stage.settle()
}

describe('deliveries that failed', () => {
  test('are sent again by GitHub when we ask, each once, and what they were about gets its verdict', async () => {
    const { github } = stage
    await unheard(() => open('unheard', { 'README.md': '# Unheard\n' }))
    await stage.settle()
    expect(runsOf('unheard')).toEqual([])
    later(5)
    await job('redeliver')
    expect(said(github, TEAM, 'unheard')).toMatchObject({ status: 'completed', conclusion: 'success' })
    const again = github.deliveries.filter(({ redelivery }) => redelivery)
    expect(again.map(({ event }) => event).sort()).toEqual(['check_suite', 'pull_request', 'push'])
    later(60)
    await job('redeliver')
    expect(github.deliveries.filter(({ redelivery }) => redelivery)).toHaveLength(3)
  })

  test('are not sent again while GitHub may still wait for the answer, nor twice in ten minutes', async () => {
    const { github } = stage
    const sent = () => github.deliveries.filter(({ redelivery }) => redelivery).length
    const before = sent()
    const { webhookUrl } = github.app
    github.app.webhookUrl = NOBODY
    open('still-unheard', { 'README.md': '# Still unheard\n' })
    await github.idle()
    await job('redeliver')
    expect(sent()).toBe(before)
    later(2)
    await job('redeliver')
    expect(sent()).toBe(before + 3)
    later(5)
    await job('redeliver')
    expect(sent()).toBe(before + 3)
    later(6)
    github.app.webhookUrl = webhookUrl
    await job('redeliver')
    expect(sent()).toBe(before + 6)
    expect(said(github, TEAM, 'still-unheard')).toMatchObject({ conclusion: 'success' })
  })
})

describe('the sweep', () => {
  test('finds a pull request onto a gated base without a check, and a branch without a verdict', async () => {
    const { github } = stage
    github.pushRef({ repo: TEAM, branch: 'release', sha: github.commitOf(TEAM, 'main'), as: 'ada' })
    await stage.settle()
    await unheard(() => {
      open('lost', { 'README.md': '# Lost\n' })
      github.propose({ repo: TEAM, branch: 'onto-release', base: 'release', as: 'ada' })
      github.push({ repo: OPS, files: { 'README.md': '# Pushed\n' }, as: 'ada' })
      github.push({ repo: 'acme/fleet', files: { 'README.md': '# Pushed\n' }, as: 'ada' })
    })
    await job('sweep')
    expect(said(github, TEAM, 'lost')).toMatchObject({ status: 'completed', conclusion: 'success' })
    expect(github.checkRunsOf(TEAM, 'onto-release')).toEqual([])
    expect(saidOfTip(github, 'acme/fleet')).toMatchObject({ status: 'completed', conclusion: 'success' })
  })

  test('finds a check that nobody completed', async () => {
    open('stuck', { 'README.md': '# Stuck\n' })
    await stage.settle()
    Object.assign(runsOf('stuck').at(-1)!, { status: 'in_progress', conclusion: null, completedAt: null })
    await job('sweep')
    expect(said(stage.github, TEAM, 'stuck')).toMatchObject({ status: 'completed', conclusion: 'success' })
  })

  test('finds a verdict against a base that has moved', async () => {
    const { github } = stage
    open('overtaken', { 'README.md': '# Mine\n' })
    await stage.settle()
    expect(said(github, TEAM, 'overtaken')).toMatchObject({ conclusion: 'success' })
    await sleep(1_100) // GitHub's times are whole seconds
    await unheard(() => void github.push({ repo: TEAM, files: { 'README.md': '# Theirs\n' }, as: 'ada' }))
    await job('sweep')
    await job('sweep') // the first one has the base evaluated, the second one what was evaluated before it
    expect(said(github, TEAM, 'overtaken')).toMatchObject({ status: 'completed', conclusion: 'failure' })
    expect(said(github, TEAM, 'overtaken').output.title).toBe('Merge conflict with main: nothing was checked')
  })

  test('where nothing was lost it asks once per branch and pull request, and writes nothing', async () => {
    const { github } = stage
    await job('sweep')
    github.forget()
    await job('sweep')
    const counts = github.counts()
    expect(github.requests.filter(({ method, path }) => method !== 'GET' && !path.includes('access_tokens'))).toEqual(
      [],
    )
    // one of them lists our own merged pull requests, of the fleet only
    expect(counts['GET /repos/{owner}/{repo}/pulls']).toBe(4)
  })
})

describe('a newer version of engine and rules', () => {
  test('judges again slowly and honours the old verdict until then; an event does not wait for that', async () => {
    const { github } = stage
    open('judged-before', { 'README.md': '# Before\n' }, OPS)
    await stage.settle()
    const run = runsOf('judged-before', OPS).at(-1)!
    const present = run.externalId
    Object.assign(run, { externalId: present?.replace(/^\w+:/, '0:') })
    const { queue } = stage.site
    await queue.add('sweep-installation', { installation: [...github.world.installations.keys()][0]! })
    const isIdle = await Promise.race([queue.idle().then(() => true), sleep(1_500, false)])
    // its minute may be the present one
    if (!isIdle) expect(runsOf('judged-before', OPS).map(one => one.externalId)).toEqual([run.externalId])
    expect(run.conclusion).toBe('success')
    github.send(github.app, 'pull_request_review', {
      ...github.deliveries.findLast(({ event }) => event === 'pull_request')!.payload,
      action: 'dismissed',
      review: { state: 'dismissed' },
    })
    await stage.settle()
    expect(runsOf('judged-before', OPS).at(-1)).toMatchObject({ conclusion: 'success', externalId: present })
  })
})

describe('a limit of GitHub', () => {
  test('holds the installation as long as it says, uses up no attempt, and the verdict arrives', async () => {
    const { github } = stage
    github.failNext(6, 403, { 'retry-after': '1' }, ({ path }) => path.startsWith(`/repos/${TEAM}/`))
    github.forget()
    const started = performance.now()
    open('limited', { 'README.md': '# Limited\n' })
    await github.idle()
    open('beside', { 'README.md': '# Beside\n' }, OPS)
    await stage.settle()
    expect(performance.now() - started).toBeGreaterThan(950)
    expect(said(github, TEAM, 'limited')).toMatchObject({ conclusion: 'success' })
    expect(said(github, OPS, 'beside')).toMatchObject({ conclusion: 'success' })
    const refused = github.requests.filter(({ status }) => status === 403).length
    expect(refused, 'with two attempts it would have given up').toBeGreaterThanOrEqual(3)
  })
})

describe('a job that cannot be done', () => {
  test('ends in a completed check that says so, and the sweep has it done later', async () => {
    const { github } = stage
    const writes = ({ method, path }: { method: string; path: string }) =>
      method === 'POST' && path === `/repos/${TEAM}/check-runs`
    github.failNext(3, 502, {}, writes)
    open('doomed', { 'README.md': '# Doomed\n' })
    await stage.settle()
    const run = said(github, TEAM, 'doomed')
    expect(run).toMatchObject({ status: 'completed', conclusion: 'failure' })
    expect(run.output.title).toMatch(/^Could not be evaluated: /)
    await job('sweep')
    expect(said(github, TEAM, 'doomed')).toMatchObject({ status: 'completed', conclusion: 'success' })
  })
})

describe("the webhook's secret", () => {
  test('may be changed without losing a delivery', async () => {
    const { github, environment } = stage
    const before = github.app.webhookSecret
    const next = 'the-next-secret-of-the-webhook'
    environment.WEBHOOK_SECRET = next
    environment.WEBHOOK_SECRET_PREVIOUS = before
    await stage.restart()
    for (const [secret, branch] of [
      [before, 'old-secret'],
      [next, 'new-secret'],
    ] as const) {
      Object.assign(github.app, { webhookSecret: secret })
      open(branch, { 'README.md': `# ${branch}\n` })
      await stage.settle()
      expect(said(github, TEAM, branch)).toMatchObject({ conclusion: 'success' })
    }
    delete environment.WEBHOOK_SECRET_PREVIOUS
    await stage.restart()
    Object.assign(github.app, { webhookSecret: before })
    open('too-late', { 'README.md': '# Late\n' })
    await github.idle()
    expect(github.deliveries.at(-1)).toMatchObject({ status: 401 })
    Object.assign(github.app, { webhookSecret: next })
    await stage.settle()
  })
})

test('every request was one that GitHub describes', () => {
  const { violations, unknown, responseViolations } = stage.github
  expect([violations, unknown, responseViolations]).toEqual([[], [], []])
})
