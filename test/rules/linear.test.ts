import { describe, expect, test, vi } from 'vitest'
import type { Fleet, FleetNode } from '../../src/fleet/model/fleet.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { assess } from '../../src/verdict/assess.ts'
import { fleetOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'
import { LABEL, shapes } from './linear-shapes.ts'

/** How often a label of the shapes is looked up while `work` runs: roles keep their labels apart from their objects. */
function lookups(work: () => void): number {
  const get = Map.prototype.get
  let count = 0
  const spy = vi.spyOn(Map.prototype, 'get').mockImplementation(function (this: Map<unknown, unknown>, key) {
    if (key === LABEL) count++
    return get.call(this, key)
  })
  try {
    work()
  } finally {
    spy.mockRestore()
  }
  return count
}

/** The same fleet, with a count of how often somebody looks at an object of it. */
function counted(fleet: Fleet): { fleet: Fleet; looks: () => number } {
  let looks = 0
  const known = new Map<KubeObject, KubeObject>()
  const watched = (object: KubeObject): KubeObject => {
    const made: KubeObject = known.get(object) ?? {
      ...object,
      get root() {
        looks++
        return object.root
      },
    }
    known.set(object, made)
    return made
  }
  const nodes = fleet.nodes.map(
    (node): FleetNode => ({
      ...node,
      kustomization: watched(node.kustomization),
      objects: node.objects.map(watched),
    }),
  )
  return { fleet: { ...fleet, nodes }, looks: () => looks }
}

/** How often objects are looked at, or labels compared, while a change to `n` of something is assessed, with as many there before. */
function looksAt(shape: (n: number) => readonly string[], n: number): number {
  const of = (count: number) => counted(fleetOf(miniFleet({ dev: withResource(shape(count).join('\n---\n')) })))
  const [before, after] = [of(n - 1), of(n)]
  const compared = lookups(() => assess(after.fleet, before.fleet))
  return before.looks() + after.looks() + compared
}

describe('what a tenant writes many of costs what it is long', () => {
  test.each(Object.entries(shapes))('%s', (_what, shape) => {
    const [few, many] = [looksAt(shape, 40), looksAt(shape, 160)]
    // four times as many: a loop over all for each would be sixteen times the work
    expect(many / few).toBeLessThan(5)
  })
})
