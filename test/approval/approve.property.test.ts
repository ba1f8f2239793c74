import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ApprovalEvent, type ApprovalState, initialApproval } from '../../src/approval/approval-state.ts'
import { approve } from '../../src/approval/approve.ts'
import {
  BASELINE,
  CLUSTER,
  combinationOf,
  evaluateFleet,
  FLEET,
  headsOf,
  keyOf,
  mayApply,
  NAMES,
  objectsOf,
  type World,
} from './approval-world.ts'

/** What can happen, in any order. `back` counts into the past, so that late and repeated messages arise. */
const move = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('push-fleet', 'push-team', 'empty-fleet', 'empty-team') },
  { weight: 2, arbitrary: fc.constantFrom('revert-fleet', 'revert-team', 'force-fleet', 'force-team', 'cross') },
  { weight: 1, arbitrary: fc.constantFrom('engine', 'restart', 'heads-unknown', 'foreign-branch', 'foreign-fleet') },
  { weight: 6, arbitrary: fc.constantFrom('read', 'judge', 'judge', 'read', 'read-and-judge') },
  { weight: 1, arbitrary: fc.constantFrom('read-incomplete', 'dispute') },
)
const step = fc.record({
  move,
  back: fc.nat(6),
  node: fc.constantFrom(...NAMES),
  hold: fc.constantFrom('hold', 'unhold', undefined, undefined, undefined, undefined),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The other side: what is present, evaluated and held, kept without any of approval's code. */
interface Model {
  present: World | undefined
  readonly evaluated: Set<string>
  readonly disputed: Set<string>
  readonly holds: Set<string>
}

test('nothing is applied that was not judged in the present combination and found clean', () => {
  let applied = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }), steps => {
      applied += play(steps)
    }),
    { numRuns: 300, seed: 20250611 },
  )
  // a run that never applies anything would hold the invariant for the wrong reason
  expect(applied).toBeGreaterThan(1000)
}, 120_000)

function play(steps: readonly Step[]): number {
  let state: ApprovalState = initialApproval({ cluster: CLUSTER, fleet: FLEET, branch: 'main' })
  let world: World = { fleetCommit: 0, fleetContent: 0, teamCommit: 0, teamContent: 0, engine: 0 }
  const past: World[] = [world]
  const model: Model = { present: undefined, evaluated: new Set(), disputed: new Set(), holds: new Set() }
  let next = 1
  let applied = 0
  for (const { move, back, node, hold } of steps) {
    const old = past.at(-1 - (back % past.length))!
    world = moved(world, old, move, next++)
    past.push(world)
    const events = eventsOf(move, world, old)
    if (hold) events.push({ type: hold, node: keyOf(node) })
    for (const event of events) {
      const result = approve(state, event)
      state = result.state
      follow(model, event, move === 'read-incomplete' ? undefined : world)
      applied += check(model, result)
    }
  }
  return applied
}

function moved(world: World, old: World, move: string, next: number): World {
  const { fleetCommit, fleetContent, teamCommit, teamContent } = old
  if (move === 'push-fleet') return { ...world, fleetCommit: next, fleetContent: next }
  if (move === 'push-team') return { ...world, teamCommit: next, teamContent: next }
  if (move === 'empty-fleet') return { ...world, fleetCommit: next }
  if (move === 'empty-team') return { ...world, teamCommit: next }
  if (move === 'revert-fleet') return { ...world, fleetCommit: next, fleetContent }
  if (move === 'revert-team') return { ...world, teamCommit: next, teamContent }
  if (move === 'force-fleet') return { ...world, fleetCommit, fleetContent }
  if (move === 'force-team') return { ...world, teamCommit, teamContent }
  if (move === 'cross') return { ...world, fleetCommit: next, fleetContent: next, teamCommit: next, teamContent: next }
  if (move === 'engine') return { ...world, engine: world.engine + 1 }
  return world
}

function eventsOf(move: string, world: World, old: World): ApprovalEvent[] {
  const evaluated = (of: World): ApprovalEvent => ({
    type: 'judged',
    combination: combinationOf(of),
    nodes: evaluateFleet(of),
    baseline: BASELINE,
  })
  const read: ApprovalEvent = { type: 'heads-read', heads: headsOf(world) }
  if (move === 'read') return [read]
  if (move === 'read-and-judge') return [read, evaluated(world)]
  if (move === 'read-incomplete') return [{ type: 'heads-read', heads: headsOf(world, false) }]
  if (move === 'judge') return [evaluated(old)]
  if (move === 'engine') return [{ type: 'engine-changed' }]
  if (move === 'restart') return [{ type: 'restarted' }]
  if (move === 'heads-unknown') return [{ type: 'heads-unknown' }]
  const heads = headsOf(world)
  if (move === 'foreign-branch')
    return [{ type: 'heads-read', heads: { ...heads, fleet: { ...heads.fleet, branch: 'evil' } } }]
  if (move === 'foreign-fleet')
    return [
      { type: 'heads-read', heads: { ...heads, fleet: { ...heads.fleet, url: 'https://github.com/evil/fleet' } } },
    ]
  if (move !== 'dispute') return []
  const other = evaluateFleet(world).map(node => ({ ...node, findings: [], failures: [], dependsOn: ['another'] }))
  return [evaluated(world), { type: 'judged', combination: combinationOf(world), nodes: other, baseline: BASELINE }]
}

function follow(model: Model, event: ApprovalEvent, world: World | undefined): void {
  if (event.type === 'heads-read') {
    const bound = event.heads.fleet.url === FLEET && event.heads.fleet.branch === 'main'
    model.present = bound ? world : undefined
  } else if (event.type === 'judged') {
    if (event.nodes[0]!.dependsOn.length > 0) model.disputed.add(event.combination)
    model.evaluated.add(event.combination)
  } else if (event.type === 'hold') model.holds.add(event.node)
  else if (event.type === 'unhold') model.holds.delete(event.node)
  else {
    model.present = undefined
    if (event.type !== 'heads-unknown') {
      model.evaluated.clear()
      model.disputed.clear()
    }
  }
}

function check(model: Model, result: ReturnType<typeof approve>): number {
  const { present } = model
  const combination = present && combinationOf(present)
  const decided = combination !== undefined && model.evaluated.has(combination) && !model.disputed.has(combination)
  const expected = decided ? NAMES.filter(name => mayApply(present!, name, model.holds)) : []
  const names = result.apply.map(node => node.name)
  // approval forgets old evaluations, so it may say less than the model; never more, and never something else
  expect(expected).toEqual(expect.arrayContaining(names))
  if (names.length > 0) expect(names).toEqual(expected)
  for (const node of result.apply) {
    expect(node.combination).toBe(combination)
    expect(node.objects).toEqual(objectsOf(present!, node.name as (typeof NAMES)[number]))
    expect(node.impersonated).toBe(true)
  }
  if (!decided || names.length === expected.length) return names.length
  expect(result.held).toEqual([])
  return 0
}
