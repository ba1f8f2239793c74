import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/errors.ts'
import { overlayTree } from '../../src/fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../../src/git/tree.ts'
import { canonical } from '../../src/kube/node.ts'
import { display, idOf } from '../../src/kube/object.ts'
import { editedTree, filesBelow, textAt } from '../../src/offboard/edited-tree.ts'
import { type OffboardPlan, planOffboarding } from '../../src/offboard/plan.ts'
import { fleetAt } from '../../src/onboard/fleet-at.ts'
import { parseOnboardArguments } from '../../src/onboard/parse-command.ts'
import { planOnboarding } from '../../src/onboard/plan.ts'
import { treeOf } from '../git/tree-of.ts'
import { acmeFleet } from '../onboard/fleets.ts'
import { FLEET_URL, LAYOUTS, type RandomFleet, randomFleet } from './random-fleet.ts'

const plan = (tree: Tree, tenant: string, to: string, from: readonly string[] = []) =>
  planOffboarding({ tenant, clusters: from, to }, tree, FLEET_URL, 'main')
const applied = (tree: Tree, { files }: OffboardPlan) =>
  editedTree(tree, new Map(files.map(({ path, content }) => [path, content])))

/** What a cluster gets from the fleet's own files. */
function rendered(tree: Tree, cluster: string): Map<string, string> {
  const nodes = fleetAt(tree, FLEET_URL, 'main').nodes.filter(node => node.cluster === cluster)
  return new Map(nodes.flatMap(({ objects }) => objects.map(one => [display(idOf(one)), canonical(one.root)])))
}

function refusal(make: () => unknown): BailiwickError {
  try {
    make()
  } catch (error) {
    if (error instanceof BailiwickError) return error
    throw error
  }
  throw new Error('was not refused')
}

/** A tenant of the fleet that is not everywhere, where it is, and where it is not. */
function mover({ tenants, clusters }: RandomFleet) {
  const tenant = tenants.find(one => one.clusters.length < clusters.length)
  return tenant && { tenant, from: tenant.clusters[0]!, to: clusters.find(name => !tenant.clusters.includes(name))! }
}

describe('a tenant of random fleets moves: first it comes as it is, then it leaves the old cluster', () => {
  // all clusters read the one file
  const layouts = LAYOUTS.map((layout, index) => [layout, index] as const).filter(([layout]) => layout !== 'one file')

  test.each(layouts)('layout "%s"', (_layout, index) => {
    let moved = 0
    for (let seed = index; moved < 4; seed += LAYOUTS.length) {
      const fleet = randomFleet(seed)
      const found = mover(fleet)
      if (!found) continue
      const { tenant, from, to } = found
      moved += 1
      const isOf = (name: string) =>
        tenant.namespaces.some(one => name.includes(` ${one}/`) || name === `Namespace ${one}`)
      const first = treeOf(fleet.files)
      const [old, before] = [rendered(first, from), rendered(first, to)]
      const arrival = plan(first, tenant.name, to, [from])
      expect(arrival).toMatchObject({ stage: 'arrival', clusters: [to], nodes: [] })
      const second = applied(first, arrival)
      expect(rendered(second, from)).toEqual(old)
      const wanted = [...old].filter(([name]) => isOf(name))
      expect([...rendered(second, to)].sort()).toEqual([...before, ...wanted].sort())
      const leaving = plan(second, tenant.name, to, [from])
      expect(leaving).toMatchObject({ stage: 'workloads', clusters: [from] })
      const third = applied(second, leaving)
      const rest = plan(third, tenant.name, to, [from])
      expect(rest).toMatchObject({ stage: 'rest', clusters: [from] })
      const last = applied(third, rest)
      expect([...rendered(last, from)]).toEqual([...old].filter(([name]) => !isOf(name)))
      expect(rendered(last, to)).toEqual(rendered(second, to))
      expect(plan(last, tenant.name, to, [from])).toMatchObject({ stage: 'done', files: [] })
    }
  })
})

test('a tenant does not move to a cluster without its ClusterRole', () => {
  const args = ['--repo', 'https://github.com/acme/ops-team', '--namespace', 'ops', '--cluster', 'staging']
  const onboarded = (tree: Tree, ...more: string[]) => {
    const { files } = planOnboarding(parseOnboardArguments(['ops-team', ...args, ...more]), tree, FLEET_URL, 'main')
    return editedTree(tree, new Map(files.map(({ path, content }) => [path, content])))
  }
  const error = refusal(() => plan(onboarded(acmeFleet()), 'ops-team', 'production'))
  expect(error).toMatchObject({
    code: 'offboard-layout',
    message: 'ClusterRole bailiwick-tenant: is not on production, and the tenant is bound to it',
    fix: 'Add tenants/base/tenant-role/cluster-roles.yaml to production first, then run the command again.',
  })
  const file = 'tenants/production/kustomization.yaml'
  const text = textAt(acmeFleet(), file)!.replace('namespace: apps\n', '')
  const open = overlayTree(acmeFleet(), new Map([[file, text]]))
  const list = text.replace('resources:\n', 'resources:\n  - ../base/tenant-role\n')
  const ready = overlayTree(onboarded(open), new Map([[file, list]]))
  expect(plan(ready, 'ops-team', 'production')).toMatchObject({ stage: 'arrival' })
  expect(plan(onboarded(open, '--role', 'edit'), 'ops-team', 'production')).toMatchObject({ stage: 'arrival' })
})

describe('what cannot be moved is refused, with the reason', () => {
  const withText = (tree: Tree, files: Record<string, string>) => overlayTree(tree, new Map(Object.entries(files)))
  const alone = () => {
    const fleet = acmeFleet()
    const { files } = planOffboarding({ tenant: 'dev-team', clusters: ['production'] }, fleet, FLEET_URL, 'main')
    const middle = editedTree(fleet, new Map(files.map(({ path, content }) => [path, content])))
    const rest = planOffboarding({ tenant: 'dev-team', clusters: ['production'] }, middle, FLEET_URL, 'main')
    return applied(middle, rest)
  }

  test('a tenant with its own patch moves with it, and the cluster that it leaves is found', () => {
    const tree = alone()
    const arrival = plan(tree, 'dev-team', 'production')
    expect(arrival.files.map(({ path }) => path)).toEqual([
      'tenants/production/dev-team-patch.yaml',
      'tenants/production/kustomization.yaml',
    ])
    const after = applied(tree, arrival)
    expect(textAt(after, 'tenants/production/kustomization.yaml')).toContain('../base/dev-team')
    const leaving = plan(after, 'dev-team', 'production')
    const third = applied(after, leaving)
    const last = applied(third, plan(third, 'dev-team', 'production'))
    expect(filesBelow(last, 'tenants/staging').filter(path => path.includes('dev-team'))).toEqual([])
    expect(plan(last, 'dev-team', 'production').stage).toBe('done')
  })

  test('to a cluster that is not there, to itself, and from several', () => {
    expect(refusal(() => plan(acmeFleet(), 'dev-team', 'nowhere')).message).toBe('this fleet has no cluster nowhere')
    expect(refusal(() => plan(acmeFleet(), 'dev-team', 'staging', ['staging'])).code).toBe('offboard-input')
    const three = withText(alone(), {})
    expect(refusal(() => plan(three, 'dev-team', 'production', ['staging', 'production'])).message).toContain('is on')
  })

  test('its namespace is there already', () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: apps}\n'
    const error = refusal(() =>
      plan(withText(alone(), { 'clusters/production/apps.yaml': namespace }), 'dev-team', 'production'),
    )
    expect(error.message).toBe('Namespace apps: is on production already')
    expect(error.origin).toMatchObject({ file: 'clusters/production/apps.yaml' })
  })

  test('the other cluster has no Kustomization for tenants', () => {
    const file = 'clusters/production/tenants.yaml'
    const renamed = textAt(acmeFleet(), file)!.replace('name: tenants', 'name: teams')
    const error = refusal(() => plan(withText(alone(), { [file]: renamed }), 'dev-team', 'production'))
    expect(error.message).toContain('production has no Kustomization flux-system/tenants')
  })

  test('a patch of the other cluster would change it', () => {
    const overlay = 'tenants/production/kustomization.yaml'
    const text = `${textAt(alone(), overlay)}patches:\n  - target: {kind: Kustomization}\n    patch: |\n      - {op: add, path: /spec/timeout, value: 1m}\n`
    const error = refusal(() => plan(withText(alone(), { [overlay]: text }), 'dev-team', 'production'))
    expect(error.message).toContain(': Kustomization apps/dev-team on production would be different')
    expect(error.fix).toContain('Onboard the tenant on that cluster')
  })

  test('the new cluster has only some of it', () => {
    const arrived = applied(alone(), plan(alone(), 'dev-team', 'production'))
    const more =
      'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: quota, namespace: apps}\nspec: {hard: {pods: "1"}}\n'
    const error = refusal(() =>
      plan(withText(arrived, { 'clusters/staging/quota.yaml': more }), 'dev-team', 'production'),
    )
    expect(error.message).toBe('ResourceQuota apps/quota: is on staging and not on production')
    expect(error.fix).toContain('offboard --cluster staging')
  })

  test('a file of another content is never overwritten', () => {
    const there = { 'tenants/production/dev-team-patch.yaml': 'a: b\n' }
    const error = refusal(() => plan(withText(alone(), there), 'dev-team', 'production'))
    expect(error.message).toContain('tenants/production/dev-team-patch.yaml is there already')
  })
})
