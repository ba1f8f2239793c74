import childProcess from 'node:child_process'
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { PassThrough } from 'node:stream'
import { expect, vi } from 'vitest'
import type { WantedSource } from '../../src/fleet/model/source-ref.ts'
import { runGit } from '../../src/git/run-git.ts'
import { approvedNodes } from '../../workers/apply/approved-nodes.ts'
import { evaluateRevisionSet } from '../../workers/fleets/evaluate-revision-set.ts'
import { Evaluator } from '../../workers/fleets/evaluator.ts'
import { EvaluationThread, LimitExceeded } from '../../workers/fleets/open-thread.ts'
import type { EvaluateRequest, EvaluationAnswer } from '../../workers/fleets/protocol.ts'
import type { SourceReader } from '../../workers/fleets/source-reader.ts'
import type { Installation } from '../../workers/fleets/worker-context.ts'
import { refuseKnownRepository } from '../../workers/tenants/open-onboarding.ts'
import { command } from '../workers/app-flows/commands.ts'
import { startStage } from '../workers/story/stage.ts'
import { deploymentFile } from '../workers/story/tenant-changes.ts'

const FLEET = 'https://github.com/acme/fleet'
const place = { repository: { url: FLEET }, branch: 'main' } as never
const EVALUATED = {
  type: 'evaluated',
  evaluation: { nodes: [], verdict: { revisionSet: 'same', clusters: [] } },
  ...{ baseline: [], followed: [] },
} as unknown as EvaluationAnswer

/** The code of what a promise is rejected with; undefined where it is kept. */
const rejected = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  )

/** Each limit of the workers and of git: goes one past it. */
export const PAST_LIMITS: Readonly<Record<string, () => Promise<void>>> = {
  'src/git/run-git.ts MAX_OUTPUT': async () => {
    const { spawn } = childProcess
    const chunk = Buffer.alloc(1024 * 1024)
    const killed = vi.fn()
    const answers = (chunks: readonly Buffer[]) => () => {
      const child = Object.assign(new EventEmitter(), {
        stdin: new PassThrough(),
        stdout: new EventEmitter(),
        stderr: new EventEmitter(),
        kill: killed,
      })
      setImmediate(() => {
        for (const one of chunks) child.stdout.emit('data', one)
        if (killed.mock.calls.length === 0) child.emit('error', new Error('no more'))
      })
      return child
    }
    const run = async (chunks: readonly Buffer[]) => {
      childProcess.spawn = answers(chunks) as never
      syncBuiltinESMExports()
      try {
        return await rejected(runGit('.', ['ls-tree']))
      } finally {
        childProcess.spawn = spawn
        syncBuiltinESMExports()
      }
    }
    const full = Array.from({ length: 512 }, () => chunk)
    expect(await run(full)).toBe('git-missing')
    expect(killed).not.toHaveBeenCalled()
    expect(await run([...full, Buffer.alloc(1)])).toBe('render-limits')
    expect(killed).toHaveBeenCalledOnce()
  },

  'workers/fleets/evaluate-revision-set.ts MAX_ROUNDS': async () => {
    const reader = {
      at: async () => undefined,
      foreign: async () => [],
      facts: async () => [],
      leadTo: async () => false,
      read: async ({ url, ref }: WantedSource) =>
        url === FLEET ? { url, ref, commit: 'a', tree: {} } : { url, ref, reason: 'not there' },
    } as unknown as SourceReader
    const evaluateFleet = async (levels: number) => {
      let round = 0
      const evaluate = async () => {
        const wanted = [{ url: `https://github.com/acme/x${++round}`, ref: {} }]
        return round > levels ? EVALUATED : ({ type: 'wanted', wanted, asked: [] } as unknown as EvaluationAnswer)
      }
      return rejected(evaluateRevisionSet({ evaluate }, reader, { fleet: place, disabledRules: [] }))
    }
    expect([await evaluateFleet(31), await evaluateFleet(32)]).toEqual([undefined, 'graph-limits'])
  },

  'workers/fleets/evaluator.ts MAX_STOPPED': async () => {
    const endedAt = async (count: number) => {
      const evaluate = vi.spyOn(EvaluationThread.prototype, 'evaluate').mockImplementation(async request => {
        const { stopped = [] } = request as EvaluateRequest
        if (stopped.length === count) return EVALUATED
        throw new LimitExceeded('heap', `staging/apps/k${stopped.length}`)
      })
      const head = { fleet: { url: FLEET, branch: 'main', commit: 'a', tree: { id: 'a' } }, sources: [], opaque: [] }
      const question = { type: 'evaluate', head: { ...head, facts: [], disabledRules: [] }, today: '2026-01-01' }
      try {
        return await rejected(
          new Evaluator({ timeoutMs: 1, heapMb: 1 }).evaluate(question as unknown as EvaluateRequest),
        )
      } finally {
        evaluate.mockRestore()
      }
    }
    expect([await endedAt(3), await endedAt(4)]).toEqual([undefined, 'evaluation-limits'])
  },

  'workers/tenants/open-onboarding.ts MOST_NAMES': async () => {
    const get = async ({ owner, repo }: { owner: string; repo: string }) => ({
      data: { id: repo.length, owner: { login: owner }, name: repo, html_url: `https://github.com/${owner}/${repo}` },
    })
    const question = {
      installation: { repositories: async () => [], octokit: { rest: { repos: { get } } } },
      ...{ login: 'ada', url: 'https://github.com/acme/a-new-repository', fleetUrl: FLEET },
    } as never
    const ask = (count: number) => {
      const sources = Array.from({ length: count }, (_one, index) => `https://github.com/acme/x${index}`)
      return rejected(refuseKnownRepository(question, sources))
    }
    expect([await ask(50), await ask(51)]).toEqual([undefined, 'onboard-input'])
  },

  'workers/apply/approved-nodes.ts MAX_ROUNDS': async () => {
    const approve = async (pushes: number) => {
      let evaluated = 0
      const evaluator = {
        evaluate: async () => {
          evaluated++
          return EVALUATED
        },
      }
      let asked = 0
      // each looks at the head once to evaluate it, and once more when it is evaluated
      const head = () => (asked++ < 2 * pushes ? `${asked}` : 'still')
      const repository = { id: 1, owner: 'acme', repo: 'fleet', name: 'fleet', url: FLEET }
      const installation = {
        repositories: async () => [repository],
        repository: async () => repository,
        lookUp: async () => undefined,
        registry: { hosts: [] },
        head: async () => head(),
        content: async () => ({}),
      } as unknown as Installation
      const binding = { name: 'staging', fleet: FLEET, branch: 'main' } as never
      const code = await rejected(
        approvedNodes({ evaluator, disabledRules: [] } as never, binding, () => installation, place),
      )
      return [code, evaluated]
    }
    expect([await approve(2), await approve(3)]).toEqual([
      [undefined, 3],
      ['github-unavailable', 3],
    ])
  },

  'workers/commands/waive.ts MOST': async () => {
    const stage = await startStage()
    try {
      const ask = async (count: number) => {
        const [repo, branch] = ['acme/dev-team', `leaves-${count}`]
        const names = Array.from({ length: count }, (_one, index) => `r${index}.yaml`)
        const files = Object.fromEntries(names.map(name => [`staging/${name}`, deploymentFile(name, 'kube-system')]))
        const overlay = `resources: [../base, ${names.join(', ')}]\npatchesStrategicMerge: [storefront-values.yaml]\n`
        const content = { ...files, 'staging/kustomization.yaml': overlay }
        const parent = stage.github.commitOf(repo, 'main')
        stage.github.push({ repo, branch, parent, files: content, as: 'dora' })
        const { number: issue } = stage.github.openPullRequest({ repo, head: branch, as: 'dora' }).issue
        await stage.settle()
        const body = '/bailiwick waive namespace-confinement They move.'
        return command(stage, { repo, issue, as: 'dora', body })
      }
      expect((await ask(20)).reactions).toEqual(['eyes', 'rocket'])
      const { reactions, replies } = await ask(21)
      expect(reactions).toEqual(['eyes', 'confused'])
      expect(replies).toEqual([expect.stringContaining('at most 20 can be waived at once')])
    } finally {
      await stage.close()
    }
  },
}
