import { afterEach, expect, test } from 'vitest'
import { packSnapshot } from '../../src/git/snapshot.ts'
import { Evaluator } from '../../workers/evaluation/evaluator.ts'
import type { JudgeRequest } from '../../workers/evaluation/protocol.ts'
import { fleetFiles } from '../fleets/read-fleet.ts'

let evaluator: Evaluator
afterEach(() => evaluator.close())

function request(files: Record<string, string>, commit = 'a'.repeat(40)): JudgeRequest {
  const tree = packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content })))
  const fleet = { url: 'https://github.com/acme/fleet', branch: 'main', commit, tree }
  const opaque = [{ url: 'https://github.com/acme/dev-team', ref: { branch: 'main' }, reason: 'not given' }]
  return { type: 'judge', head: { fleet, sources: [], opaque, disabledRules: [] }, today: '2026-01-01' }
}

test('judges in a thread; the same question again costs no rendering', async () => {
  evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 512 })
  const first = await evaluator.evaluate(request(fleetFiles('acme/fleet')))
  expect(first).toMatchObject({ type: 'judged', judgement: { verdict: { result: 'pass' } } })
  expect(await evaluator.evaluate(request(fleetFiles('acme/fleet')))).toBe(first)
  const other = await evaluator.evaluate(request(fleetFiles('acme/fleet'), 'b'.repeat(40)))
  expect(other).not.toBe(first)
})

test('what takes too long is ended, not remembered, and the next question is answered', async () => {
  evaluator = new Evaluator({ timeoutMs: 1, heapMb: 512 })
  const question = request(fleetFiles('acme/fleet'))
  await expect(evaluator.evaluate(question)).rejects.toMatchObject({ code: 'evaluation-limits' })
  await evaluator.close()
  evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 512 })
  expect(await evaluator.evaluate(question)).toMatchObject({ type: 'judged' })
})

test('a thread that runs out of heap is replaced', async () => {
  evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 8 })
  const files = fleetFiles('acme/fleet')
  await expect(evaluator.evaluate(request(files))).rejects.toMatchObject({ code: 'evaluation-limits' })
  await expect(evaluator.evaluate(request(files))).rejects.toMatchObject({ code: 'evaluation-limits' })
})
