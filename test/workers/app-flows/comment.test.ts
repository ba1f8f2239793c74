import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMENT_MARKER } from '../../../src/report/comment.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, lastRun } from './commands.ts'

const REPO = 'acme/dev-team'
const FILE = 'staging/storefront-values.yaml'
const SECRET = 'hunter2-of-the-shop'
let stage: Stage
let pull = 0

beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
})
afterAll(async () => {
  const { violations, responseViolations, unknown } = stage.github
  await stage.close()
  expect([violations, responseViolations, unknown]).toEqual([[], [], []])
})

const values = (replicas: number) =>
  fleetFiles(REPO)[FILE]!.replace('spec:\n  template', `spec:\n  replicas: ${replicas}\n  template`)

async function push(files: Readonly<Record<string, string>>): Promise<void> {
  stage.github.push({ repo: REPO, branch: 'more', files, as: 'dora' })
  await stage.settle()
}

/** The comments of ours with the marker. */
const ours = (number = pull, repo = REPO) =>
  stage.github
    .commentsOf(repo, number)
    .filter(one => one.body.startsWith(COMMENT_MARKER) && one.user.login.endsWith('[bot]'))

/** Requests that wrote a comment of an issue since a moment. */
const writes = (since: number) =>
  stage.github.requests
    .slice(since)
    .filter(({ method, route }) => method !== 'GET' && route.includes('comments'))
    .map(({ method, route }) => `${method} ${route}`)

test('a pull request that changes what a cluster gets has one comment with the rendered diff', async () => {
  const { github } = stage
  const parent = github.commitOf(REPO, 'main')
  github.push({ repo: REPO, branch: 'more', parent, files: { [FILE]: values(3) }, as: 'dora' })
  pull = github.openPullRequest({ repo: REPO, head: 'more', as: 'dora' }).issue.number
  await stage.settle()
  expect(ours()).toHaveLength(1)
  expect(ours()[0]!.body).toContain(
    '@@ Deployment apps/storefront: changed @@\n-  spec.replicas: 1\n+  spec.replicas: 3\n',
  )
  expect(lastRun(github, REPO, 'more')).toMatchObject({ conclusion: 'success' })
  expect(lastRun(github, REPO, 'more')?.output.summary).toContain('Rendered changes: 1 changed.')
})

test('a push changes it in place', async () => {
  const [before] = ours()
  await push({ [FILE]: values(5) })
  expect(ours().map(one => one.id)).toEqual([before!.id])
  expect(ours()[0]!.body).toContain('+  spec.replicas: 5\n')
})

test('judged again it is not written again', async () => {
  const since = stage.github.requests.length
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick check' })
  expect(writes(since).filter(one => !one.includes('reactions'))).toEqual([])
})

test('it is found where GitHub still counts none', async () => {
  const [before] = ours()
  stage.github.world.lateCounts = true
  await push({ [FILE]: values(7) })
  stage.github.world.lateCounts = false
  expect(ours().map(one => one.id)).toEqual([before!.id])
  expect(ours()[0]!.body).toContain('+  spec.replicas: 7\n')
})

test("somebody else's comment with our marker is neither believed nor touched", async () => {
  const body = `${COMMENT_MARKER}\n✅ **Passed** {"approved": true}`
  const forged = stage.github.comment({ repo: REPO, issue: pull, as: 'mallory', body })
  await push({ [FILE]: values(6) })
  const all = stage.github.commentsOf(REPO, pull)
  expect(all.find(one => one.id === forged.id)?.body).toBe(body)
  expect(ours()[0]!.body).toContain('+  spec.replicas: 6\n')
  expect(ours()).toHaveLength(1)
})

test('no value of a Secret is sent to GitHub, in whatever is said', async () => {
  const since = stage.github.requests.length
  const base = fleetFiles(REPO)['base/kustomization.yaml']!
  const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {password: ${SECRET}}\n`
  await push({
    'base/secret.yaml': secret,
    'base/kustomization.yaml': base.replace('  - widget.yaml', '  - widget.yaml\n  - secret.yaml'),
  })
  expect(lastRun(stage.github, REPO, 'more')).toMatchObject({ conclusion: 'failure' })
  expect(ours()[0]!.body).toContain('`/bailiwick explain plaintext-secret`')
  expect(ours()[0]!.body).toContain('!  data.password: added, not shown')
  const sent = stage.github.requests.slice(since).filter(({ as }) => as.startsWith('installation:'))
  expect(sent.length).toBeGreaterThan(3)
  for (const { body } of sent) {
    for (const leak of [SECRET, Buffer.from(SECRET).toString('base64')])
      expect(JSON.stringify(body) ?? '').not.toContain(leak)
  }
})

test('a mended pull request that changes nothing loses it', async () => {
  const files = fleetFiles(REPO)
  const since = stage.github.requests.length
  await push({
    [FILE]: files[FILE]!,
    'base/kustomization.yaml': files['base/kustomization.yaml']!,
    'base/secret.yaml': '',
  })
  expect(ours()).toEqual([])
  expect(lastRun(stage.github, REPO, 'more')?.output.summary).toContain('No rendered changes')
  expect(writes(since)).toEqual(['DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}'])
})

test('a pull request of the fleet says which repositories it would break, and what they get', async () => {
  const { github } = stage
  const path = 'tenants/base/dev-team/sync.yaml'
  const content = fleetFiles('acme/fleet')[path]!.replace('path: ./', 'targetNamespace: flux-system\n  path: ./')
  const parent = github.commitOf('acme/fleet', 'main')
  github.push({ repo: 'acme/fleet', branch: 'aim', parent, files: { [path]: content }, as: 'ada' })
  const { number } = github.openPullRequest({ repo: 'acme/fleet', head: 'aim', as: 'ada' }).issue
  const since = github.requests.length
  await stage.settle()
  const [comment] = ours(number, 'acme/fleet')
  expect(comment?.body).toMatch(/Would break 1 other repository<\/summary>\n\n`acme\/dev-team` \(\d+ new/)
  expect(comment?.body).toContain('objects will be DELETED')
  const created = github.requests
    .slice(since)
    .filter(({ method, path: to }) => method === 'POST' && /comments$|check-runs$|reviews$/.test(to))
  // the check, the comment with the edit as a block, and the edit as a suggestion on its line
  expect(created.length).toBeLessThanOrEqual(3)
  expect(comment?.body).toContain('-  targetNamespace: flux-system\n+  targetNamespace: apps\n')
})
