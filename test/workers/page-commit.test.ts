import { expect, test } from 'vitest'
import type { WorkerContext } from '../../workers/fleets/worker-context.ts'
import { pageCommitOfGroup } from '../../workers/gate/keep-pages.ts'
import { silentLog } from '../repository/runner/silent-log.ts'

const NAME = { owner: 'acme', repo: 'dev-team' }
const idOf = (number: number) => number.toString(16).padStart(40, '0')

/** GitHub with a merge queue of that many pull requests, each group standing on the one before. */
function queueOf(length: number) {
  const asked: number[] = []
  const refs = Array.from({ length }, (_, at) => ({
    ref: `refs/heads/gh-readonly-queue/main/pr-${at + 1}-${idOf(at)}`,
    object: { sha: idOf(at + 1) },
  }))
  const octokit = {
    paginate: async () => refs,
    rest: {
      git: {},
      repos: { listCommits: async () => ({ data: [] }) },
      pulls: {
        get: async ({ pull_number: number }: { pull_number: number }) => {
          asked.push(number)
          const side = { ref: 'main', sha: idOf(number), repo: { id: 1, full_name: 'acme/dev-team' } }
          return {
            data: {
              number,
              title: `change ${number}`,
              user: { login: 'dora', type: 'User' },
              labels: [],
              head: side,
              base: side,
            },
          }
        },
      },
    },
  }
  return { octokit, asked, group: { installation: 1, ...NAME, branch: 'main', sha: idOf(length), base: idOf(0) } }
}

async function describe(length: number, publicUrl: string | null = 'https://pages.example') {
  const { octokit, asked, group } = queueOf(length)
  const context = { pages: { publicUrl: publicUrl ?? undefined }, log: silentLog } as unknown as WorkerContext
  const subject = { context, octokit, ...NAME } as never
  return { commit: await pageCommitOfGroup(subject, group), asked }
}

test('the pull requests of a merge group are named down to its base, the newest first', async () => {
  const { commit } = await describe(20)
  expect(commit).toMatchObject({ branch: 'main', morePulls: 0 })
  expect(commit.pulls?.[0]).toEqual({ number: 20, title: 'change 20', author: 'dora' })
  expect(commit.pulls).toHaveLength(20)
})

test('one more than twenty is counted and not asked for', async () => {
  const { commit, asked } = await describe(21)
  expect([commit.pulls?.length, commit.morePulls, asked.length]).toEqual([20, 1, 20])
})

test('without pages GitHub is not asked', async () => {
  const { commit, asked } = await describe(3, null)
  expect([commit, asked]).toEqual([{ branch: 'main' }, []])
})
