import { createPublicKey } from 'node:crypto'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeployKey, Pull } from '../github/world.ts'
import { AUTH, FLEET, mayAdminister, ONBOARD, openSealedFleet, openSecret, TEAM } from '../story/sealed-fleet.ts'
import type { Stage } from '../story/stage.ts'
import { command, lastRun } from './commands.ts'

const ROTATE = '/bailiwick rotate-key ops-team'
const READY = `${ROTATE} --ready`
const GATED = ['git/commits', 'git/refs', 'keys', 'pulls', 'access_tokens', 'git/trees']

let stage: Stage
let identity = ''
let issue = 0
beforeAll(async () => {
  ;({ stage, identity, issue } = await openSealedFleet({ retry: { attempts: 1, backoffMs: 1 } }))
  expect((await say(ONBOARD)).reactions).toEqual(['rocket'])
  await merge(latest())
})
afterAll(() => stage?.close())

const say = (body: string, as = 'ada') => command(stage, { repo: FLEET, issue, as, body })
const keys = (): readonly DeployKey[] => stage.github.repositoryNamed(TEAM).deployKeys
const latest = (): Pull => stage.github.pullRequestsOf(FLEET).at(-1)!
const rotations = (state: 'open' | 'closed' = 'open') =>
  stage.github
    .pullRequestsOf(FLEET)
    .filter(({ head, issue: { state: is } }) => head.ref.startsWith('bailiwick/rotate-ops-team-') && is === state)
const number = (pull = latest()) => pull.issue.number
const commentsOn = (pull: Pull) => stage.github.commentsOf(FLEET, number(pull)).map(({ body }) => body)

/** The public half of what is sealed at a commit. */
async function sealedAt(ref: string): Promise<string> {
  const { values } = await openSecret(stage.github.readFile(FLEET, ref, AUTH)!, identity)
  const spki = createPublicKey(values.identity!).export({ type: 'spki', format: 'der' })
  const key = values['identity.pub']!.trim()
  expect(Buffer.from(key.split(' ')[1]!, 'base64').subarray(-32)).toEqual(spki.subarray(-32))
  return key
}

/** What clusters may be using is a key of the repository, whatever was done last. */
async function isReadable(): Promise<void> {
  expect(keys().map(({ key }) => key)).toContain(await sealedAt('main'))
}

/** GitHub fails at the next request that fits; answers whether there was one. */
function failOnce(fits: (request: { readonly method: string; readonly path: string }) => boolean): () => boolean {
  let hit = false
  stage.github.failNext(1, 502, {}, request => {
    const now = fits(request)
    hit ||= now
    return now
  })
  return () => hit
}

async function merge(pull: Pull): Promise<void> {
  expect(stage.github.merge({ repo: FLEET, pull: number(pull), as: 'ada' })).toMatchObject({ status: 200 })
  await stage.settle()
}

async function close(pull: Pull): Promise<void> {
  stage.github.closePullRequest({ repo: FLEET, pull: number(pull), as: 'ada' })
  await stage.settle()
}

describe('rotating a deploy key', () => {
  test('only a fleet admin may', async () => {
    expect(await say(ROTATE, 'mallory')).toEqual({ reactions: ['-1'], replies: [] })
    expect(await say(ROTATE, 'otto')).toEqual({ reactions: ['-1'], replies: [] })
    expect(keys()).toHaveLength(1)
  })

  test('new key, pull request, merge, the word of an admin, old key: in this order', async () => {
    const [old] = keys()
    expect(await say(ROTATE)).toEqual({ reactions: ['eyes', 'rocket'], replies: [] })
    const pull = latest()
    expect(pull.issue.title).toBe('Rotate the deploy key of tenant ops-team')
    expect(keys().map(({ key }) => key)).toEqual([old!.key, await sealedAt(pull.head.sha)])
    expect(keys()[1]).toMatchObject({ readOnly: true, title: 'Flux: tenant ops-team of acme/fleet, rotated by ada' })
    expect(lastRun(stage.github, FLEET, pull.head.sha)).toMatchObject({ conclusion: 'success' })
    await isReadable()
    await merge(pull)
    // nobody knows yet whether the cluster reads with the new one
    expect(keys()).toHaveLength(2)
    expect(commentsOn(pull).join()).toContain('a fleet admin says that staging reads with the new key')
    await isReadable()
    const { replies } = await say(READY)
    expect(replies.join()).toContain('The rotation is complete: the old deploy key is deleted.')
    expect(keys().map(({ key }) => key)).toEqual([await sealedAt('main')])
    expect(keys()).not.toContainEqual(old)
  })

  test('the key was made after the commit, and the pull request after the key', () => {
    const writes = stage.github.requests.filter(({ method }) => method === 'POST').map(({ path }) => path)
    const at = (end: string) => writes.findLastIndex(path => path.endsWith(end))
    expect(at('/git/commits')).toBeLessThan(at('/keys'))
    expect(at('/keys')).toBeLessThan(at('/pulls'))
  })

  test('an outage at each request that writes: the next command goes on, with one key and one pull request', async () => {
    for (const end of GATED) {
      const [old] = keys()
      const failed = failOnce(({ method, path }) => method === 'POST' && path.endsWith(end))
      expect([end, (await say(ROTATE)).reactions]).toEqual([end, ['eyes', 'confused']])
      expect([end, failed()]).toEqual([end, true])
      await isReadable()
      await say(ROTATE)
      expect([end, rotations().length, keys().length]).toEqual([end, 1, 2])
      expect(keys()[1]!.key).toBe(await sealedAt(rotations()[0]!.head.sha))
      await merge(rotations()[0]!)
      await isReadable()
      // the deletion fails, and is done again
      const kept = failOnce(({ method, path }) => method === 'DELETE' && path.includes('/keys/'))
      await say(READY)
      expect([kept(), keys().length]).toEqual([true, 2])
      await isReadable()
      await say(READY)
      expect(keys().map(({ key }) => key)).toEqual([await sealedAt('main')])
      expect(keys()).not.toContainEqual(old)
    }
  }, 120_000)

  test('asked for twice, also at once: one rotation', async () => {
    const bodies = [ROTATE, ROTATE, ROTATE]
    for (const body of bodies) stage.github.comment({ repo: FLEET, issue, as: 'ada', body })
    await stage.settle()
    expect([rotations().length, keys().length]).toEqual([1, 2])
    await say(ROTATE)
    expect([rotations().length, keys().length]).toEqual([1, 2])
    await isReadable()
  })

  test('closed without a merge: the new key goes, the old one stays; opened again, it comes back', async () => {
    const [old, made] = keys()
    const [pull] = rotations()
    await close(pull!)
    expect(keys()).toEqual([old])
    stage.github.reopenPullRequest({ repo: FLEET, pull: number(pull), as: 'ada' })
    await stage.settle()
    expect(keys().map(({ key }) => key)).toEqual([old!.key, made!.key])
    await close(pull!)
    expect(keys()).toEqual([old])
    await isReadable()
  })

  test('a record of an earlier rotation in another text adds no key', async () => {
    const before = keys().map(({ key }) => key)
    const earlier = stage.github.pullRequestsOf(FLEET).find(({ head }) => head.ref.startsWith('bailiwick/rotate-'))!
    const marker = /<!-- bailiwick:rotation .* -->/.exec(earlier.issue.body ?? '')![0]
    const [closed] = rotations('closed').toReversed()
    stage.github.editPullRequest({ repo: FLEET, pull: number(closed), body: `Hello\n\n${marker}`, as: 'otto' })
    stage.github.reopenPullRequest({ repo: FLEET, pull: number(closed), as: 'otto' })
    await stage.settle()
    await close(closed!)
    expect(keys().map(({ key }) => key)).toEqual(before)
  })

  test('the old key was deleted by hand meanwhile: nothing is left to do', async () => {
    await say(ROTATE)
    const pull = rotations()[0]!
    stage.github.repositoryNamed(TEAM).deployKeys.shift()
    await merge(pull)
    await isReadable()
    expect(keys()).toHaveLength(1)
    expect((await say(READY)).replies.join()).toContain('no old deploy key is left')
  })

  test('the new key was deleted by hand meanwhile: it comes back before the old one goes', async () => {
    await say(ROTATE)
    const pull = rotations()[0]!
    stage.github.repositoryNamed(TEAM).deployKeys.pop()
    await merge(pull)
    await isReadable()
    expect(keys()).toHaveLength(2)
    await say(READY)
    expect(keys().map(({ key }) => key)).toEqual([await sealedAt('main')])
  })

  test('all keys were deleted by hand: none is added until an admin of the repository asks', async () => {
    await say(ROTATE)
    const pull = rotations()[0]!
    stage.github.repositoryNamed(TEAM).deployKeys.splice(0)
    await merge(pull)
    expect(keys()).toEqual([])
    expect(commentsOn(pull).join()).toContain('does not add it again')
    stage.github.addUser('grace')
    stage.github.repositoryNamed(FLEET).collaborators.set('grace', 'maintain')
    const { replies } = await say(ROTATE, 'grace')
    expect(replies.join()).toContain('grace does not administer it')
    expect(keys()).toEqual([])
    // ada administers both
    await say(ROTATE)
    await merge(rotations()[0]!)
    await isReadable()
  })

  test('--ready without a merged rotation, and tenants that are none', async () => {
    expect((await say(READY)).replies.join()).toContain('no old deploy key is left')
    expect((await say('/bailiwick rotate-key')).replies.join()).toContain('the name of one tenant is needed')
    expect((await say('/bailiwick rotate-key nobody')).replies.join()).toContain('no source of a tenant')
    expect((await say('/bailiwick rotate-key dev-team')).replies.join()).toContain('no source with an SSH address')
  })

  test('without the permission, and where deploy keys are forbidden: the steps by hand, and no change', async () => {
    const before = keys().map(({ key }) => key)
    mayAdminister(stage.github, 'read')
    const { replies } = await say(ROTATE)
    expect(replies.join()).toContain('`Administration: write`')
    expect(replies.join()).toContain('flux create secret git ops-team-auth --namespace=ops')
    mayAdminister(stage.github, 'write')
    stage.github.world.noDeployKeys.add('acme')
    expect((await say(ROTATE)).replies.join()).toContain('GitHub does not accept deploy keys')
    stage.github.world.noDeployKeys.delete('acme')
    expect([rotations(), keys().map(({ key }) => key)]).toEqual([[], before])
  })

  test('the report lists keys with their age, and what is not visible', async () => {
    const { github } = stage
    const report = async () => (await say('/bailiwick credentials')).replies.join()
    expect(await say('/bailiwick credentials', 'otto')).toEqual({ reactions: ['-1'], replies: [] })
    keys()[0]!.lastUsed = new Date().toISOString()
    const text = await report()
    expect(text).toContain('### Deploy keys (1)')
    expect(text).toMatch(/`ops-team \(https:\/\/github\.com\/acme\/ops-team\)`: `made \S+, 0 days old, last used \S+`/)
    expect(text).not.toContain('Not visible')
    const stray = { ...keys()[0]!, id: github.world.nextId(), key: 'ssh-ed25519 AAAA' }
    github
      .repositoryNamed('acme/dev-team')
      .deployKeys.push({ ...stray, title: stray.title.replace('ops-team', 'gone') })
    const other = await identityToRecipient(await generateIdentity())
    const files = {
      '.sops.yaml': github.readFile(FLEET, 'main', '.sops.yaml').replace(/age1\w+/, other),
      'tenants/base/dev-team/open.yaml':
        'apiVersion: v1\nkind: Secret\nmetadata:\n  name: open\nstringData:\n  token: hunter2hunter2\n',
      'tenants/base/dev-team/kustomization.yaml': `${github.readFile(FLEET, 'main', 'tenants/base/dev-team/kustomization.yaml')}  - open.yaml\n`,
    }
    github.push({ repo: FLEET, files, as: 'ada' })
    const after = await report()
    expect(after).toContain('### Deploy keys of no tenant (1)')
    expect(after).toContain('no source of tenant gone reads this repository')
    expect(after).toContain('`Secret apps/open` at `tenants/base/dev-team/open.yaml:1`')
    expect(after).toContain(`sops updatekeys --yes ${AUTH}\n`)
    expect(after).not.toContain('hunter2')
  })

  test('every request was one that GitHub describes', () => {
    expect([stage.github.violations, stage.github.unknown]).toEqual([[], []])
  })
})
