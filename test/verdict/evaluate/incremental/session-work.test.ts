import { expect, test } from 'vitest'
import { generatedFleet, inputOf, withTree } from '../../../../bench/fleet/generated-fleet.ts'
import { FLEET_URL } from '../../../../bench/fleet/platform-files.ts'
import { type FleetInput, revisionSetOf } from '../../../../src/fleet/model/input.ts'
import { EvaluateSession } from '../../../../src/verdict/evaluate-sides.ts'

const TEAM = 'https://github.com/acme/team-0001'

/** What one more change costs a session that has seen one like it. */
function workOf(
  size: number,
  change: (base: FleetInput, run: number, files: ReadonlyMap<string, string>) => FleetInput,
) {
  const generated = generatedFleet(size)
  const base = inputOf(generated)
  const session = new EvaluateSession()
  const evaluateFleet = (run: number) => {
    const head = change(base, run, run < 0 ? new Map() : generated.tenants.get(TEAM)!)
    const before = session.build(base)
    const built = session.build({ ...head, config: base.fleet.tree })
    return session.evaluateFleet(built, { base: before, combination: revisionSetOf(head) })
  }
  evaluateFleet(0)
  const { rendered, walked, asked } = session.work
  expect(evaluateFleet(1).verdict.result).toBe('pass')
  const { work } = session
  return { rendered: work.rendered - rendered, walked: work.walked - walked, asked: work.asked - asked }
}

const edited = (files: ReadonlyMap<string, string>, path: string, from: string, run: number) => {
  expect(files.get(path)).toContain(from)
  return new Map([...files, [path, files.get(path)!.replace(from, `${from}${run}`)]])
}

test('one changed file of a tenant costs the same in a fleet of any size', () => {
  const change = (base: FleetInput, run: number, files: ReadonlyMap<string, string>) =>
    withTree(base, TEAM, edited(files, 'staging/replicas.yaml', 'replicas: 3', run))
  // its Kustomization on one cluster; what reads its repository
  const work = { rendered: 1, walked: 0, asked: 2 }
  expect(workOf(2, change)).toEqual(work)
  expect(workOf(12, change)).toEqual(work)
})

test('one changed file of the platform is rendered where it is read, and nobody else is asked again', () => {
  const files = generatedFleet(12).fleet
  const change = (base: FleetInput, run: number) =>
    withTree(base, FLEET_URL, edited(files, 'infrastructure/classes.yaml', 'value: 1000', run))
  const { rendered, asked } = workOf(12, change)
  expect(rendered).toBe(2)
  expect(asked).toBeLessThan(6)
})
