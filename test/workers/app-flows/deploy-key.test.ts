import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hasRedis } from '../queue/start-redis.ts'
import { AUTH, FLEET, mayAdminister, ONBOARD, openSealedFleet, openSecret, TEAM } from '../story/sealed-fleet.ts'
import type { Stage } from '../story/stage.ts'
import { formsOf, keepPrinted, tracesOf } from '../story/traces.ts'
import { command, lastRun } from './commands.ts'

const BRANCH = 'bailiwick/onboard-ops-team'

let stage: Stage
let identity = ''
let issue = 0
let printed: string[] = []

const start = (redis: boolean) => async () => {
  printed = keepPrinted()
  ;({ stage, identity, issue } = await openSealedFleet({ redis, logLevel: 'warn' }))
  stage.github.forget()
}
afterEach(async () => {
  vi.restoreAllMocks()
  await stage?.close()
})

const keys = (repo = TEAM) => stage.github.repositoryNamed(repo).deployKeys
const pull = () => stage.github.pullRequestsOf(FLEET).findLast(one => one.head.ref === BRANCH)
const file = (path: string) =>
  stage.github.filesOf(FLEET, BRANCH).includes(path) ? stage.github.readFile(FLEET, BRANCH, path) : undefined
const onboard = (as = 'ada') => command(stage, { repo: FLEET, issue, as, body: ONBOARD })

async function sweep(): Promise<void> {
  await stage.site.queue.add('sweep', {})
  await stage.settle()
}

/** What happens on GitHub meanwhile reaches nobody: every delivery fails. */
async function unheard(happening: () => unknown): Promise<void> {
  const { app } = stage.github
  const { webhookUrl } = app
  app.webhookUrl = 'http://127.0.0.1:9/'
  happening()
  await stage.github.idle()
  app.webhookUrl = webhookUrl
}

/** Requests for a token that changes settings; one that only reads is asked for by each set of workers. */
const administering = () =>
  stage.github.requests.filter(({ body }) => JSON.stringify(body ?? null).includes('"administration":"write"'))

/** The Secret in the pull request. */
const openedSecret = () => openSecret(file(AUTH)!, identity)

describe('a tenant with a deploy key, on Redis', () => {
  beforeEach(start(hasRedis))

  test('the public half is on the repository, the private half only in the sealed file', async () => {
    expect(await onboard()).toEqual({ reactions: ['rocket'], replies: [] })
    const { metadata, values } = await openedSecret()
    expect(metadata).toEqual({ name: 'ops-team-auth', namespace: 'ops' })
    expect(Object.keys(values)).toEqual(['identity', 'identity.pub', 'known_hosts'])
    expect(values.identity).toMatch(/^-----BEGIN PRIVATE KEY-----\n[A-Za-z0-9+/]{64}\n-----END PRIVATE KEY-----\n$/)
    expect(values.known_hosts).toMatch(/^github\.com ssh-ed25519 \S+\ngithub\.com ecdsa-sha2-nistp256 \S+$/)
    expect(keys()).toEqual([
      expect.objectContaining({
        key: values['identity.pub']!.trim(),
        readOnly: true,
        title: 'Flux: tenant ops-team of acme/fleet, requested by ada',
      }),
    ])
    expect(file('tenants/base/ops-team/sync.yaml')).toContain(
      'secretRef:\n    name: ops-team-auth\n  url: ssh://git@github.com/acme/ops-team\n',
    )
    expect(file('tenants/base/ops-team/kustomization.yaml')).toContain('  - auth.yaml\n')
    expect(pull()!.issue.body).toContain('If this pull request is closed without a merge, the deploy key is deleted.')
    expect(lastRun(stage.github, FLEET, BRANCH)).toMatchObject({ conclusion: 'success' })
    // the token for it reached this repository alone, and was ended
    expect(administering().map(({ body }) => (body as { repository_ids?: unknown }).repository_ids)).toEqual([
      [stage.github.repositoryNamed(TEAM).id],
    ])
    expect(stage.github.requests.filter(({ path }) => path === '/installation/token').length).toBe(1)
    const searched = await tracesOf(stage, printed)
    expect(searched).toContain(keys()[0]!.key)
    for (const form of [...formsOf(values.identity!), 'BEGIN PRIVATE KEY-----\\nMC4C']) {
      expect(searched).not.toContain(form)
    }
  })

  test('asked for again: the same key and the same file', async () => {
    await onboard()
    const [before, key] = [file(AUTH), keys()[0]]
    expect((await onboard()).reactions).toEqual(['rocket'])
    expect([file(AUTH), keys()]).toEqual([before, [key]])
  })

  test('closed without a merge: no key is left', async () => {
    await onboard()
    expect(keys()).toHaveLength(1)
    stage.github.closePullRequest({ repo: FLEET, pull: pull()!.issue.number, as: 'ada' })
    await stage.settle()
    expect(keys()).toEqual([])
  })
})

describe('a tenant with a deploy key', () => {
  beforeEach(start(false))

  test('closed while nobody heard it: the sweep deletes the key, and leaves those of other people', {
    timeout: 120_000,
  }, async () => {
    await onboard()
    keys().push({ ...keys()[0]!, id: stage.github.world.nextId(), key: 'ssh-ed25519 AAAA', title: 'by hand' })
    await unheard(() => stage.github.closePullRequest({ repo: FLEET, pull: pull()!.issue.number, as: 'ada' }))
    expect(keys()).toHaveLength(2)
    await sweep()
    expect(keys().map(({ title }) => title)).toEqual(['by hand'])
    stage.github.forget()
    await sweep()
    expect(administering()).toEqual([])
  })

  test('open, or merged while nobody heard it: the sweep leaves the key', { timeout: 120_000 }, async () => {
    await onboard()
    await sweep()
    expect(keys()).toHaveLength(1)
    await unheard(() => stage.github.merge({ repo: FLEET, pull: pull()!.issue.number, as: 'ada' }))
    await sweep()
    expect(keys()).toHaveLength(1)
  })

  test('closed and asked for again while nobody heard it: the key that the new pull request seals stays', {
    timeout: 120_000,
  }, async () => {
    await onboard()
    const first = pull()!.issue.number
    await unheard(() => stage.github.closePullRequest({ repo: FLEET, pull: first, as: 'ada' }))
    await onboard()
    expect(pull()!.issue.number).not.toBe(first)
    await sweep()
    const { values } = await openedSecret()
    expect(keys().map(({ key }) => key)).toEqual([values['identity.pub']!.trim()])
  })

  test('merged: the key stays', async () => {
    await onboard()
    stage.github.merge({ repo: FLEET, pull: pull()!.issue.number, as: 'ada' })
    await stage.settle()
    expect(keys()).toHaveLength(1)
  })

  test.each([
    ['before the commit', 'POST', '/git/commits'],
    ['before the pull request', 'POST', '/pulls'],
    ['before the key', 'POST', '/keys'],
    ['before the keys are read', 'GET', '/keys'],
    ['before the token', 'POST', '/access_tokens'],
  ])('an outage %s: one key in the end, which is the one in the file', async (_name, method, end) => {
    stage.github.failNext(1, 502, {}, request => request.method === method && request.path.endsWith(end))
    await onboard()
    const { values } = await openedSecret()
    expect(keys().map(({ key }) => key)).toEqual([values['identity.pub']!.trim()])
  })

  test('without the permission: what to click, and no key', async () => {
    mayAdminister(stage.github, 'read')
    expect((await onboard()).reactions).toEqual(['rocket'])
    expect([keys(), file(AUTH)]).toEqual([[], undefined])
    expect(pull()!.issue.body).toContain('does not have the permission `Administration: write`')
    expect(pull()!.issue.body).toContain(`sops encrypt --in-place ${AUTH}`)
  })

  test('an organization that forbids deploy keys: what to click, and no file for a key that is not there', async () => {
    stage.github.world.noDeployKeys.add('acme')
    expect((await onboard()).reactions).toEqual(['rocket'])
    expect([keys(), file(AUTH)]).toEqual([[], undefined])
    expect(pull()!.issue.body).toContain('GitHub does not accept deploy keys for that repository')
    expect(pull()!.issue.body).not.toContain('bailiwick:deploy-key')
    // the check fails until the file is there
    expect(file('tenants/base/ops-team/kustomization.yaml')).toContain('auth.yaml')
  })

  test('a fleet that encrypts to the cloud: the file, the line and the command', async () => {
    const files = { '.sops.yaml': 'creation_rules:\n  - kms: arn:aws:kms:eu:1:key/x\n' }
    stage.github.push({ repo: FLEET, files, as: 'ada' })
    const { replies } = await onboard()
    expect(replies.join()).toContain('AWS KMS is needed to encrypt')
    expect(replies.join()).toContain(`sops encrypt --in-place ${AUTH}`)
    expect(replies.join()).toContain('.sops.yaml:2')
    expect([keys(), pull()]).toEqual([[], undefined])
  })

  test('a record that another fleet writer puts into the text adds no key of theirs', async () => {
    await onboard()
    const before = keys()
    const number = pull()!.issue.number
    const { body } = pull()!.issue
    const forged = Buffer.from(
      JSON.stringify({
        fleet: stage.github.repositoryNamed(FLEET).id,
        repository: stage.github.repositoryNamed(TEAM).id,
        tenant: 'ops-team',
        key: `ssh-ed25519 ${'A'.repeat(68)}`,
      }),
    ).toString('base64url')
    stage.github.editPullRequest({
      repo: FLEET,
      pull: number,
      body: body!.replace(/deploy-key [\w-]+\./, `deploy-key ${forged}.`),
      as: 'otto',
    })
    await onboard()
    expect(keys().some(({ key }) => key.includes('AAAAAAAAAA'.repeat(6)))).toBe(false)
    expect(keys().length).toBeGreaterThanOrEqual(before.length)
  })
})
