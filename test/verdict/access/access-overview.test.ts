import { expect, test } from 'vitest'
import { generatedFleet, inputOf } from '../../../bench/fleet/generated-fleet.ts'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import { type AccessView, accessOverview } from '../../../src/verdict/audit/access-overview.ts'

const fleet = buildFleet(inputOf(generatedFleet(3)))
const whole = accessOverview(fleet, 0, 1_000_000)

test('tells of every namespace who can change it, tenants first', () => {
  expect(whole.left).toBe(0)
  const owned = whole.namespaces.map(({ tenant }) => tenant !== '')
  expect(owned.lastIndexOf(true)).toBeLessThan(owned.indexOf(false))
  const [first] = whole.namespaces
  const own = first?.changers.find(({ tenant }) => tenant === first.tenant)
  expect(own).toMatchObject({ kind: 'Kustomization', impersonated: true, ownCluster: true })
  expect(own?.rights[0]?.role).toMatch(/^ClusterRole /)
  expect(own?.rights[0]?.origin).toMatchObject({ file: expect.stringMatching(/rbac\.yaml$/) })
  expect(JSON.parse(JSON.stringify(whole))).toEqual(whole)
})

test('in portions of any size it comes to the same', () => {
  for (const budget of [0, 10, 40]) {
    const found: AccessView[] = []
    for (let left = 1; left > 0; ) {
      const portion = accessOverview(fleet, found.length, budget)
      expect(portion.namespaces.length).toBeGreaterThan(0)
      found.push(...portion.namespaces)
      left = portion.left
    }
    expect(found, `${budget}`).toEqual(whole.namespaces)
  }
  expect(accessOverview(fleet, 10_000)).toEqual({ namespaces: [], left: 0 })
})
