import { expect, test } from 'vitest'
import { evaluationOf, type Files } from '../fleet/fleet-of.ts'
import { devFiles, fleetFiles, miniFleet } from '../fleet/mini-fleet.ts'

const FILE = 'tenants/dev-team.yaml'

/** The account of dev-team may do this with everything in its namespaces, and no more. */
const allowed = (verbs: string): Files => ({
  [FILE]: `${fleetFiles[FILE]!.replace('kind: ClusterRole\n  name: cluster-admin', 'kind: ClusterRole\n  name: deployer')}---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: deployer}
rules: [{apiGroups: ['*'], resources: ['*'], verbs: [${verbs}]}]
`,
})
const PATCH = 'get, list, watch, patch, delete'

/** States of what the account may not apply, after a change from one tenant's repository and rights to others. */
function statesAfter(verbs: readonly [base: string, head: string], dev: readonly [base: Files, head: Files]): string[] {
  expect(allowed(verbs[0])[FILE]).toContain('name: deployer\n')
  const [base, head] = [0, 1].map(at => miniFleet({ fleet: allowed(verbs[at]!), dev: dev[at]! }))
  const { violations } = evaluationOf(head!, { base: base! }).verdict
  return violations.filter(({ rule }) => rule === 'account-cannot-apply').map(({ state }) => state)
}

const scaled = { ...devFiles, 'deploy/web.yaml': `${devFiles['deploy/web.yaml']}# once more\n` }
const none = { ...devFiles, 'deploy/kustomization.yaml': 'resources: []\n' }

test('an object that is there already needs no right to create it, so no change fixes that', () => {
  expect(statesAfter([PATCH, PATCH], [devFiles, scaled])).toEqual([])
  // a new one needs it
  expect(statesAfter([PATCH, PATCH], [none, devFiles])).toEqual(['new'])
})

test('an object that goes, or whose account gets the right to patch, is fixed', () => {
  expect(statesAfter([PATCH, PATCH], [devFiles, none])).toEqual(['fixed'])
  expect(statesAfter(['get', `${PATCH}, create`], [devFiles, devFiles])).toEqual(['fixed'])
})
