import { expect, test } from 'vitest'
import { BailiwickError } from '../../src/errors.ts'
import { isOnlyMergeBase, readMergeBase } from '../../src/github/pulls/merge-base.ts'
import { rawGitHub } from './raw-github.ts'

type MergeBase = NonNullable<Awaited<ReturnType<typeof readMergeBase>>>

const NAME = { owner: 'acme', repo: 'fleet' }
const TREE = 'f'.repeat(40)

/** Parents of each commit, by its number. */
type Graph = readonly (readonly number[])[]

const idOf = (commit: number) => commit.toString(16).padStart(40, '0')

function reached(graph: Graph, from: number): Set<number> {
  const seen = new Set([from])
  for (const commit of seen) for (const parent of graph[commit]!) seen.add(parent)
  return seen
}

/** All best common ancestors, as `git merge-base --all` says them. */
function basesOf(graph: Graph, one: number, other: number): number[] {
  const of = reached(graph, one)
  const common = [...reached(graph, other)].filter(commit => of.has(commit))
  return common.filter(commit => !common.some(each => each !== commit && reached(graph, each).has(commit)))
}

/** GitHub with these commits; `most`: how many it lists on one page at the most. */
async function hostOf(graph: Graph, most = 100) {
  return rawGitHub((_, path, query) => {
    const [base, head] = path
      .split('/')
      .at(-1)!
      .split('...')
      .map(id => Number.parseInt(id, 16)) as [number, number]
    const [common] = basesOf(graph, base, head)
    if (common === undefined)
      return { status: 404, body: { message: `No common ancestor between ${idOf(base)} and ${idOf(head)}.` } }
    const [ofBase, ofHead] = [reached(graph, base), reached(graph, head)]
    const ahead = [...ofHead].filter(commit => !ofBase.has(commit)).sort((a, b) => a - b)
    const behind = [...ofBase].filter(commit => !ofHead.has(commit)).length
    const size = Math.min(most, Number(query.get('per_page')))
    const page = ahead.slice((Number(query.get('page') ?? 1) - 1) * size).slice(0, size)
    const status = ahead.length ? (behind ? 'diverged' : 'ahead') : behind ? 'behind' : 'identical'
    const commits = page.map(sha => ({ sha: idOf(sha), parents: graph[sha]!.map(parent => ({ sha: idOf(parent) })) }))
    const merge_base_commit = { sha: idOf(common), commit: { tree: { sha: TREE } } }
    return { body: { status, ahead_by: ahead.length, behind_by: behind, merge_base_commit, commits } }
  })
}

async function isOnly(graph: Graph, base: number, head: number, most?: number): Promise<boolean | undefined> {
  const { octokit } = await hostOf(graph, most)
  const found = await readMergeBase(octokit, NAME, idOf(base), idOf(head))
  return found && isOnlyMergeBase(octokit, NAME, found, idOf(base), idOf(head))
}

test('histories that part once have one merge base, also after the base was merged into the head', async () => {
  expect(await isOnly([[], [0], [0]], 1, 2)).toBe(true)
  expect(await isOnly([[], [0], [0], [2, 1], [1], [3]], 4, 5)).toBe(true)
})

test('criss-cross histories have several', async () => {
  expect(await isOnly([[], [0], [0], [1, 2], [2, 1]], 3, 4)).toBe(false)
  expect(await isOnly([[], [0], [0], [1, 2], [2, 1], [3], [4]], 5, 6)).toBe(false)
})

test('histories without a common commit have none', async () => {
  expect(await isOnly([[], []], 0, 1)).toBeUndefined()
})

test('a commit that GitHub does not show is not one without a common ancestor', async () => {
  const { octokit } = await rawGitHub(() => ({ status: 404, body: { message: 'Not Found' } }))
  await expect(readMergeBase(octokit, NAME, idOf(0), idOf(1))).rejects.toThrow(BailiwickError)
})

test('random histories are told apart, on however many pages', { timeout: 120_000 }, async () => {
  const seen = { true: 0, false: 0 }
  let state = 7
  const random = (below: number) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
  for (let trial = 0; trial < 300; trial++) {
    const graph = Array.from({ length: 12 }, (_, at) =>
      at === 0 ? [] : [...new Set(Array.from({ length: random(4) ? 2 : 1 }, () => Math.max(0, at - 2 - random(4))))],
    )
    const [base, head] = [11, 10 - random(2)]
    const bases = basesOf(graph, base, head)
    if (bases.includes(base) || bases.includes(head)) continue
    const only = await isOnly(graph, base, head, 1 + random(3))
    expect(only, JSON.stringify({ graph, base, head })).toBe(bases.length === 1)
    seen[`${only === true}`]++
  }
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(3)
})

test('nothing is claimed of histories that are too long, or listed with gaps', async () => {
  const { octokit, requests } = await rawGitHub(() => ({ body: { status: 'diverged', commits: [] } }))
  const found = (ahead: number): MergeBase => ({ commit: idOf(0), tree: TREE, ahead, behind: ahead })
  expect(await isOnlyMergeBase(octokit, NAME, found(1001), idOf(1), idOf(2))).toBe(false)
  expect(requests).toEqual([])
  expect(await isOnlyMergeBase(octokit, NAME, found(2), idOf(1), idOf(2))).toBe(false)
})
