import { describe, expect, test } from 'vitest'
import { ObjectStore } from '../../../src/git/object-store.ts'
import { readBranch, readHead } from '../../../src/github/branches.ts'
import { listOpenPullRequests, readPullRequest } from '../../../src/github/pull-request.ts'
import { readTestMerge } from '../../../src/github/test-merge.ts'
import { temporaryFolder } from '../../base/git/temporary-folder.ts'
import { type Answer, rawGitHub } from './raw-github.ts'

const newStore = () => new ObjectStore(temporaryFolder())

const FLEET = { owner: 'acme', repo: 'fleet' }
const id = (letter: string) => letter.repeat(40)
const [BASE, HEAD, MERGE, TREE, OLD] = ['a', 'b', 'c', 'd', 'e'].map(id) as [string, string, string, string, string]

const PULL = {
  number: 4,
  state: 'open',
  draft: false,
  labels: [{ name: 'bailiwick/hold' }],
  user: { login: 'dora', type: 'User' } as { login: string; type: string } | null,
  merged: false,
  mergeable: true as boolean | null,
  merge_commit_sha: MERGE as string | null,
  base: { ref: 'main', sha: OLD, repo: { id: 1, full_name: 'acme/fleet', default_branch: 'main' } },
  head: { ref: 'fix', sha: HEAD, repo: { id: 1, full_name: 'acme/fleet' } as { id: number; full_name: string } | null },
}

interface State {
  readonly pull?: Partial<typeof PULL>
  readonly parents?: readonly string[]
  readonly branch?: { readonly name: string } | undefined
}

async function pullHost({ pull = {}, parents = [BASE, HEAD], branch = { name: 'main' } }: State = {}) {
  const answers: Record<string, Answer> = {
    '/repos/acme/fleet/pulls/4': { body: { ...PULL, ...pull } },
    '/repos/acme/fleet/branches/main': { body: { ...branch, commit: { sha: BASE, commit: { tree: { sha: TREE } } } } },
    [`/repos/acme/fleet/git/commits/${MERGE}`]: {
      body: { sha: MERGE, tree: { sha: TREE }, parents: parents.map(sha => ({ sha })), message: 'Merge b into a' },
    },
    '/repos/acme/fleet/pulls': { body: [PULL, { ...PULL, number: 5, base: { ...PULL.base, ref: 'other' } }] },
  }
  return rawGitHub((_, path) => answers[path])
}

const merge = async (state: State) => {
  const { octokit } = await pullHost(state)
  return readTestMerge({ ...FLEET, octokit }, (await readPullRequest({ ...FLEET, octokit }, 4))!, newStore())
}

describe('readPullRequest', () => {
  test('tells state, base and head', async () => {
    const { octokit, requests } = await pullHost()
    expect(await readPullRequest({ ...FLEET, octokit }, 4)).toEqual({
      number: 4,
      state: 'open',
      merged: false,
      draft: false,
      labels: ['bailiwick/hold'],
      author: { login: 'dora', type: 'User' },
      base: { ref: 'main', sha: OLD, isDefault: true },
      head: { ref: 'fix', sha: HEAD, repository: 'acme/fleet', fork: false },
      mergeable: true,
      mergeCommit: MERGE,
    })
    expect(requests).toHaveLength(1)
    expect(await readPullRequest({ ...FLEET, octokit }, 5)).toBeUndefined()
    const ghost = await pullHost({ pull: { user: null } })
    expect((await readPullRequest({ ...FLEET, octokit: ghost.octokit }, 4))?.author).toBeUndefined()
  })

  test('knows a fork by the id of its repository; a deleted one is a fork', async () => {
    const fork = await pullHost({ pull: { head: { ...PULL.head, repo: { id: 2, full_name: 'acme/fleet' } } } })
    expect((await readPullRequest({ ...FLEET, octokit: fork.octokit }, 4))?.head.fork).toBe(true)
    const gone = await pullHost({ pull: { head: { ...PULL.head, repo: null } } })
    expect((await readPullRequest({ ...FLEET, octokit: gone.octokit }, 4))?.head).toMatchObject({
      fork: true,
      repository: null,
    })
  })

  test('lists those that are open onto a branch', async () => {
    const { octokit } = await pullHost()
    expect((await listOpenPullRequests({ ...FLEET, octokit }, 'main')).map(pull => pull.number)).toEqual([4])
  })
})

describe('readTestMerge', () => {
  test('is of the base branch as it is now, not as the pull request noted it', async () => {
    expect(await merge({})).toMatchObject({ sha: MERGE, tree: TREE, base: BASE, head: HEAD, parents: [BASE, HEAD] })
  })

  test.each<[string, State]>([
    ['not computed', { pull: { mergeable: null, merge_commit_sha: MERGE } }],
    ['no commit', { pull: { merge_commit_sha: null } }],
    ['one that was thrown away', { pull: { merge_commit_sha: OLD } }],
    ['of an older base', { parents: [OLD, HEAD] }],
    ['of an older head', { parents: [BASE, OLD] }],
    ['the other way round', { parents: [HEAD, BASE] }],
    ['with a third parent', { parents: [BASE, HEAD, OLD] }],
    ['a commit without parents', { parents: [] }],
  ])('%s: try again', async (_, state) => {
    await expect(merge(state)).rejects.toMatchObject({ code: 'github-unavailable', retryAfter: 2 })
  })

  test('a conflict is final', async () => {
    await expect(merge({ pull: { mergeable: false } })).rejects.toMatchObject({ code: 'merge-conflict' })
  })

  test('a base branch that was renamed is gone, though GitHub leads on to the new one', async () => {
    await expect(merge({ branch: { name: 'trunk' } })).rejects.toMatchObject({ code: 'git-missing' })
  })
})

describe('readHead', () => {
  const tagObject = (type: string, sha: string) => ({ ref: 'refs/tags/v1', object: { type, sha } })
  const host = () =>
    rawGitHub((_, path) => {
      const answers: Record<string, object> = {
        '/repos/acme/fleet/branches/main': { name: 'main', commit: { sha: BASE, commit: { tree: { sha: TREE } } } },
        [`/repos/acme/fleet/branches/${OLD}`]: { name: OLD, commit: { sha: HEAD, commit: { tree: { sha: TREE } } } },
        '/repos/acme/fleet/git/ref/tags/v1': tagObject('tag', id('1')),
        [`/repos/acme/fleet/git/tags/${id('1')}`]: tagObject('tag', id('2')),
        [`/repos/acme/fleet/git/tags/${id('2')}`]: tagObject('commit', BASE),
        '/repos/acme/fleet/git/ref/tags/loop': { ref: 'refs/tags/loop', object: { type: 'tag', sha: id('3') } },
        [`/repos/acme/fleet/git/tags/${id('3')}`]: tagObject('tag', id('3')),
        '/repos/acme/fleet/git/ref/tags/v': tagObject('commit', BASE),
        [`/repos/acme/fleet/git/commits/${BASE}`]: { sha: BASE, tree: { sha: TREE }, parents: [], message: '' },
      }
      if (path.startsWith('/repos/acme/empty/')) return { status: 409, body: { message: 'Git Repository is empty.' } }
      return answers[path] && { body: answers[path] }
    })

  test('a branch, a tag through its tags, a commit, a name', async () => {
    const { octokit } = await host()
    const there = { commit: BASE, tree: TREE }
    expect(await readHead({ ...FLEET, octokit }, { branch: 'main' })).toEqual(there)
    expect(await readHead({ ...FLEET, octokit }, { branch: 'main', tag: 'v1' })).toEqual(there)
    expect(await readHead({ ...FLEET, octokit }, { commit: BASE, branch: 'gone' })).toEqual(there)
    expect(await readHead({ ...FLEET, octokit }, { name: 'refs/heads/main' })).toEqual(there)
    expect(await readHead({ ...FLEET, octokit }, { name: 'refs/tags/v1' })).toEqual(there)
  })

  test('nothing is guessed: a branch named like a commit is a branch, a tag is matched whole', async () => {
    const { octokit } = await host()
    expect(await readHead({ ...FLEET, octokit }, { commit: OLD })).toBeUndefined()
    expect(await readHead({ ...FLEET, octokit }, { branch: OLD })).toMatchObject({ commit: HEAD })
    expect(await readHead({ ...FLEET, octokit }, { tag: 'v' })).toBeUndefined()
    expect(await readHead({ ...FLEET, octokit }, { tag: 'loop' })).toBeUndefined()
    expect(await readHead({ ...FLEET, octokit }, { branch: 'v1' })).toBeUndefined()
    await expect(readHead({ ...FLEET, octokit }, { commit: 'main' })).rejects.toMatchObject({ code: 'git-missing' })
  })

  test('an empty repository has no head; what is not read yet is refused', async () => {
    const { octokit } = await host()
    expect(await readBranch({ octokit, owner: 'acme', repo: 'empty' }, 'main')).toBeUndefined()
    for (const ref of [{ semver: '>=1.0' }, { name: 'refs/pull/1/head' }]) {
      await expect(readHead({ ...FLEET, octokit }, ref)).rejects.toMatchObject({ code: 'flux-unsupported' })
    }
  })
})
