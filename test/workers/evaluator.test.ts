import { afterEach, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { message, part, plainText } from '../../src/base/message.ts'
import type { WalkProgress } from '../../src/fleet/rendering/render-memory.ts'
import { packSnapshot } from '../../src/git/tree.ts'
import { undecided } from '../../src/verdict/evaluated.ts'
import { evaluate, KeptFleet } from '../../workers/fleets/evaluate.ts'
import { Evaluator } from '../../workers/fleets/evaluator.ts'
import { type OpenThread, openThread } from '../../workers/fleets/open-thread.ts'
import { type EvaluateRequest, type EvaluationProgress, RunningNode } from '../../workers/fleets/protocol.ts'
import { fleetFiles } from '../fleet/fleets/read-fleet.ts'
import { openKeptThread } from './story/kept-threads.ts'

let evaluator: Evaluator
afterEach(() => evaluator?.close())

function request(files: Record<string, string>, commit = 'a'.repeat(40)): EvaluateRequest {
  const tree = packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content })))
  const fleet = { url: 'https://github.com/acme/fleet', branch: 'main', commit, tree }
  const opaque = [{ url: 'https://github.com/acme/dev-team', ref: { branch: 'main' }, reason: 'not given' }]
  return {
    type: 'evaluate',
    head: { fleet, sources: [], opaque, facts: [], disabledRules: [], registries: [] },
    today: '2026-01-01',
  }
}

test('judges in a thread; the same question again costs no rendering', async () => {
  evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 512 })
  const first = await evaluator.evaluate(request(fleetFiles('acme/fleet')))
  expect(first).toMatchObject({ type: 'evaluated', evaluation: { verdict: { result: 'pass' } } })
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
  expect(await evaluator.evaluate(question)).toMatchObject({ type: 'evaluated' })
})

test('who opened a thread hears whether it can be used again', async () => {
  const said: boolean[] = []
  let opened = Promise.withResolvers<void>()
  const open: OpenThread = heapMb => {
    opened.resolve()
    const thread = openThread(heapMb)
    const close = (isUsable: boolean) => {
      said.push(isUsable)
      return thread.close(isUsable)
    }
    return { ...thread, close }
  }
  const question = request(fleetFiles('acme/fleet'))
  evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 512, threads: 1 }, open)
  await evaluator.evaluate(question)
  await evaluator.close()
  expect(said).toEqual([true])
  opened = Promise.withResolvers()
  const running = evaluator.evaluate(request(fleetFiles('acme/fleet'), 'b'.repeat(40)))
  await opened.promise
  await Promise.all([expect(running).rejects.toThrow('the rendering thread ended'), evaluator.close()])
  expect(said).toEqual([true, false])
})

test('a kept thread answers the next evaluator as a new one does', async () => {
  const question = request(fleetFiles('acme/fleet'))
  const answers = []
  for (const open of [openThread, openKeptThread, openKeptThread]) {
    evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 511, threads: 1 }, open)
    answers.push(await evaluator.evaluate(question))
    await evaluator.close()
  }
  expect(answers[1]).toEqual(answers[0])
  expect(answers[2]).toEqual(answers[0])
})

test('a node at which it is ended is an error of that node, and the others are judged', () => {
  const ran: string[] = []
  const node = 'staging/flux-system/many-1'
  const question = { ...request(manyNodes(3)), stopped: [node] }
  const answer = evaluate(question, new KeptFleet(), undefined, key => ran.push(key))
  if (answer.type !== 'evaluated') throw new Error(answer.type)
  const { errors } = answer.evaluation.verdict
  expect(errors.map(({ code, node: at }) => [code, at])).toEqual([['evaluation-limits', node]])
  expect(answer.evaluation.nodes.find(({ key }) => key === 'staging/flux-system/many-2')?.objects).not.toEqual([])
  expect(ran).toContain('staging/flux-system/many-2')
})

test('who ends a thread knows the node that it was at', () => {
  const running = new RunningNode()
  running.set('staging/apps/dev-team')
  expect(new RunningNode(running.shared).get()).toBe('staging/apps/dev-team')
  running.set('')
  expect(new RunningNode(running.shared).get()).toBe('')
})

test('a thread that runs out of heap is replaced', async () => {
  evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 8 })
  const files = fleetFiles('acme/fleet')
  await expect(evaluator.evaluate(request(files))).rejects.toMatchObject({ code: 'evaluation-limits' })
  await expect(evaluator.evaluate(request(files))).rejects.toMatchObject({ code: 'evaluation-limits' })
})

/** The platform's own Kustomizations of one directory with many objects. */
function manyNodes(count: number): Record<string, string> {
  const objects = Array.from(
    { length: 40 },
    (_, index) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c${index}\n`,
  )
  const node = (index: number) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: many-${index}
  namespace: flux-system
spec:
  interval: 1h
  path: ./many
  prune: true
  serviceAccountName: kustomize-controller
  targetNamespace: many-${index}
  sourceRef: {kind: GitRepository, name: flux-system}
`
  const nodes = Array.from({ length: count }, (_, index) => node(index)).join('---\n')
  return {
    ...fleetFiles('acme/fleet'),
    'many/objects.yaml': objects.join('---\n'),
    'clusters/staging/many.yaml': nodes,
  }
}

test('says how far it is while it takes a while, with what need not be rendered again', async () => {
  evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 512 })
  const told: EvaluationProgress[] = []
  const files = manyNodes(300)
  expect(await evaluator.evaluate(request(files), one => told.push(one))).toMatchObject({ type: 'evaluated' })
  expect(told.length).toBeGreaterThan(0)
  const counts = told.map(({ rendered }) => rendered)
  expect(counts).toEqual([...counts].sort((a, b) => a - b))
  expect(counts.at(-1)).toBeGreaterThan(10)
  expect(told.every(({ total }) => total === undefined)).toBe(true)
})

test('counts what need not be rendered again, out of as many as there were', () => {
  const kept = new KeptFleet()
  const files = manyNodes(30)
  evaluate(request(files), kept)
  const one = manyNodes(1)['clusters/staging/many.yaml']!.replace('name: many-0', 'name: more-0')
  const told: WalkProgress[] = []
  evaluate(request({ ...files, 'clusters/staging/more.yaml': one }, 'b'.repeat(40)), kept, progress =>
    told.push(progress),
  )
  const { rendered, known, total } = told.at(-1)!
  expect(known).toBeGreaterThanOrEqual(30)
  expect(rendered).toBeGreaterThan(0)
  expect(rendered).toBeLessThan(10)
  expect(total).toBeGreaterThan(30)
})

test('what a value in an error is crosses from the thread with it', async () => {
  evaluator = new Evaluator({ timeoutMs: 30_000, heapMb: 512 })
  const files = { ...fleetFiles('acme/fleet'), '.github/bailiwick.yaml': 'nothing: of this\n' }
  const answer = await evaluator.evaluate(request(files))
  if (answer.type !== 'evaluated') throw new Error(answer.type)
  const [error] = answer.evaluation.verdict.errors
  const { message: text, typed } = error!
  expect(typed && plainText(typed)).toBe(text)
  expect(typed?.parts).toContainEqual({ type: 'code', value: '.github/bailiwick.yaml', text: '.github/bailiwick.yaml' })
})

test('an error of everything keeps what its values are', () => {
  const said = message`no tree of ${part('repository', 'acme/ops')}`
  const { verdict } = undecided(
    new BailiwickError('git-missing', said, { fix: message`Push ${part('branch', 'main')}.` }),
  )
  expect(verdict.errors[0]).toMatchObject({
    message: 'no tree of acme/ops',
    said,
    typedFix: message`Push ${part('branch', 'main')}.`,
  })
})
