import { expect, test } from 'vitest'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import { buildWithEarlier, type EarlierState, MAX_EARLIER } from '../../src/fleet/graph/fleet-session.ts'
import type { Fleet } from '../../src/fleet/model/fleet.ts'
import { type FleetInput, retainOf } from '../../src/fleet/model/input.ts'
import { openSnapshot, packSnapshot } from '../../src/git/tree.ts'
import { verdictJson } from '../../src/report/formats/formats.ts'
import { terminalText } from '../../src/report/formats/terminal.ts'
import { evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import type { Files } from './fleet-of.ts'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles, OPS_URL, opsFiles } from './mini-fleet.ts'

const treeOf = (files: Files) =>
  openSnapshot(packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content }))))

const inputOf = (change: Files, dev: Files = {}): FleetInput => ({
  fleet: { url: FLEET_URL, branch: 'main', commit: '', tree: treeOf({ ...fleetFiles, ...change }) },
  sources: [
    { url: DEV_URL, ref: { branch: 'main' }, commit: '', tree: treeOf({ ...devFiles, ...dev }) },
    { url: OPS_URL, ref: { branch: 'main' }, commit: '', tree: treeOf(opsFiles) },
  ],
  opaque: [],
})

const stateOf = (change: Files, commit = 'c'): EarlierState => ({ commit, tree: inputOf(change).fleet.tree })

/** Kustomize cannot read the overlay at all, so nothing of the node is left. */
const OVERLAY: Files = { 'tenants/kustomization.yaml': 'resources: [' }
const ROOT: Files = { 'clusters/staging/kustomization.yaml': 'resources: [' }
const TAKEN: Files = {
  'deploy/kustomization.yaml': 'resources: [web.yaml, extra.yaml]\n',
  'deploy/extra.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: taken, namespace: ops}\n',
}

const whole = (input: FleetInput, states: readonly EarlierState[]) =>
  buildWithEarlier(buildFleet, input, { states, isAll: true })

const keysOf = (fleet: Fleet) => fleet.nodes.map(node => node.key.replace('staging/', ''))
const newIn = (head: Fleet, base: Fleet) => {
  const { violations, errors } = evaluateFleet(head, { base, revisionSet: '' }).verdict
  return [...violations.map(one => one.rule), ...errors.map(one => one.code)].filter(
    (_, index) => [...violations, ...errors][index]!.state === 'new',
  )
}

for (const [name, broken] of Object.entries({ overlay: OVERLAY, root: ROOT })) {
  test(`of a ${name} that is broken on the branch, the last commit that builds gives tenants and children`, () => {
    const { fleet: base, isOpen } = whole(inputOf(broken), [stateOf(broken), stateOf({})])
    expect(isOpen).toBe(false)
    expect(keysOf(base)).toEqual(expect.arrayContaining(['apps/dev-team', 'ops/ops-team', 'flux-system/tenants']))
    expect(base.clusters[0]!.owners?.get('apps')).toBe('dev-team')
    expect(base.clusters[0]!.lockdown.noCrossNamespaceRefs).toBe(true)
    // second step: while it is broken a tenant reaches out
    const head = buildFleet({ ...inputOf(broken, TAKEN), config: inputOf(broken).fleet.tree, retain: retainOf(base) })
    expect(newIn(head, base)).toEqual(['namespace-confinement'])
    const same = buildFleet({ ...inputOf(broken), config: inputOf(broken).fleet.tree, retain: retainOf(base) })
    expect(newIn(same, base)).toEqual([])
  })
}

test('a broken root lets no ClusterRoleBinding pass that a child of it gets', () => {
  const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
`
  const { fleet: base } = whole(inputOf(ROOT), [stateOf({})])
  const added = {
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, all.yaml]\n',
    'tenants/all.yaml': binding,
  }
  const config = inputOf(ROOT).fleet.tree
  const head = buildFleet({ ...inputOf({ ...ROOT, ...added }), config, retain: retainOf(base) })
  expect(newIn(head, base)).toEqual(expect.arrayContaining(['sa-foreign']))
})

test('what builds asks for nothing and is the very same fleet', () => {
  const input = inputOf({})
  let built = 0
  const counted = (one: FleetInput) => {
    built++
    return buildFleet(one)
  }
  const { isOpen, input: same } = buildWithEarlier(counted, input, { states: [], isAll: false })
  expect([isOpen, same === input, built]).toEqual([false, true, 1])
})

test('more commits are asked for while a node builds in none, and then it is unknown', () => {
  const open = buildWithEarlier(buildFleet, inputOf(OVERLAY), { states: [stateOf(OVERLAY)], isAll: false })
  expect(open.isOpen).toBe(true)
  const states = Array.from({ length: MAX_EARLIER }, (_, index) => stateOf(OVERLAY, `c${index}`))
  const { fleet } = whole(inputOf(OVERLAY), states)
  expect(fleet.nodes.filter(node => node.unknown).map(node => node.name)).toEqual(['tenants'])
  // any file may say where it leads, so the repositories of the tenants are still concerned
  expect(fleet.nodes.find(node => node.unknown)!.hides).toEqual(expect.arrayContaining([DEV_URL, OPS_URL]))
  const { verdict } = evaluateFleet(fleet, { revisionSet: '' })
  const entry = expect.objectContaining({ source: 'Kustomization/flux-system/tenants', what: 'facts' })
  expect(verdict.notSeen).toEqual(expect.arrayContaining([entry]))
  expect(verdict.summary).toContain('Not visible: 1 Kustomization that never built.')
  expect(terminalText(verdict, '')).toContain(
    'not visible: Kustomization/flux-system/tenants: it cannot be rendered on cluster',
  )
  expect(verdictJson(verdict).notSeen).toContainEqual(
    expect.objectContaining({ source: 'Kustomization/flux-system/tenants' }),
  )
})

test('what built once is listed as nothing that is not known', () => {
  const { fleet } = whole(inputOf(OVERLAY), [stateOf({})])
  const { verdict } = evaluateFleet(fleet, { revisionSet: '' })
  expect(verdict.errors).not.toEqual([])
  expect(verdict.notSeen.filter(({ what }) => what === 'facts')).toEqual([])
})

test('of two versions the newest that builds counts', () => {
  const moved: Files = {
    'tenants/dev-team.yaml': fleetFiles['tenants/dev-team.yaml']!.replace('tenant: dev-team', 'tenant: other'),
  }
  const { fleet } = whole(inputOf(OVERLAY), [stateOf(moved), stateOf({})])
  expect(fleet.clusters[0]!.owners?.get('apps')).toBe('other')
})
