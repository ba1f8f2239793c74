import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/errors.ts'
import { overlayTree } from '../../src/fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../../src/git/tree.ts'
import { toJson } from '../../src/kube/node.ts'
import { display, idOf } from '../../src/kube/object.ts'
import { editedTree, textAt } from '../../src/offboard/edited-tree.ts'
import { type OffboardPlan, planOffboarding } from '../../src/offboard/plan.ts'
import { fleetAt } from '../../src/onboard/fleet-at.ts'
import { treeOf } from '../git/tree-of.ts'
import { acmeFleet } from '../onboard/fleets.ts'
import { FLEET_URL, LAYOUTS, randomFleet } from './random-fleet.ts'

const plan = (tree: Tree, tenant: string, name: string) =>
  planOffboarding({ tenant, clusters: [], name }, tree, FLEET_URL, 'main')
const applied = (tree: Tree, { files }: OffboardPlan) =>
  editedTree(tree, new Map(files.map(({ path, content }) => [path, content])))
const withText = (tree: Tree, files: Record<string, string>) => overlayTree(tree, new Map(Object.entries(files)))

/** What each cluster gets from the fleet's own files. */
function rendered(tree: Tree): Map<string, string> {
  return new Map(
    fleetAt(tree, FLEET_URL, 'main').nodes.flatMap(({ cluster, objects }) =>
      objects.map(one => [`${cluster} ${display(idOf(one))}`, JSON.stringify(toJson(one.root))] as const),
    ),
  )
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

describe('a tenant of random fleets gets another name', () => {
  test.each(LAYOUTS.map((layout, index) => [layout, index] as const))('layout "%s"', (_layout, index) => {
    for (let seed = index; seed < index + 2 * LAYOUTS.length; seed += LAYOUTS.length) {
      const { files, tenants } = randomFleet(seed)
      const tenant = tenants[seed % tenants.length]!
      const isOf = (name: string) =>
        tenant.namespaces.some(one => name.includes(` ${one}/`) || name.endsWith(`Namespace ${one}`))
      const first = treeOf(files)
      const old = rendered(first)
      const on = fleetAt(first, FLEET_URL, 'main').clusters.filter(one => one.owners!.has(tenant.namespaces[0]!))
      const clusters = on.map(({ name }) => name).sort()
      const arrival = plan(first, tenant.name, 'blue')
      expect(arrival).toMatchObject({ stage: 'arrival', clusters, nodes: [], sources: [] })
      const second = applied(first, arrival)
      const both = rendered(second)
      // nothing is touched, and what comes is of the new name
      for (const [name, text] of old) expect(both.get(name)).toBe(text)
      for (const name of both.keys()) if (!old.has(name)) expect(name).toMatch(/\/blue(?:-reconciler)?$/)
      const change = plan(second, tenant.name, 'blue')
      expect(change).toMatchObject({ stage: 'switch', clusters })
      const third = applied(second, change)
      const now = rendered(third)
      expect([...now.keys()].sort()).toEqual([...both.keys()].sort())
      for (const [name, text] of now) if (!isOf(name)) expect(text).toBe(old.get(name))
      for (const { owners } of fleetAt(third, FLEET_URL, 'main').clusters) {
        expect([...owners!.values()]).not.toContain(tenant.name)
      }
      const rest = plan(third, tenant.name, 'blue')
      expect(rest.stage).toBe('rest')
      const last = applied(third, rest)
      // the fleet is that of a tenant that had this name from the beginning, but for namespaces and Kustomizations
      const renamed = (text: string) =>
        text
          .replaceAll(`"toolkit.fluxcd.io/tenant":"${tenant.name}"`, '"toolkit.fluxcd.io/tenant":"blue"')
          .replaceAll(`"name":"${tenant.name}-reconciler"`, '"name":"blue-reconciler"')
          .replaceAll(`"serviceAccountName":"${tenant.name}"`, '"serviceAccountName":"blue"')
          .replaceAll(`"kind":"ServiceAccount","name":"${tenant.name}"`, '"kind":"ServiceAccount","name":"blue"')
          .replaceAll(`"kind":"GitRepository","name":"${tenant.name}"`, '"kind":"GitRepository","name":"blue"')
      const wanted = [...old].map(([name, text]) => {
        if (!isOf(name)) return text
        const isNamed = / (?:ServiceAccount|GitRepository) /.test(name)
        return renamed(isNamed ? text.replace(`"name":"${tenant.name}"`, '"name":"blue"') : text)
      })
      expect([...rendered(last).values()].sort()).toEqual(wanted.sort())
      expect(plan(last, tenant.name, 'blue')).toMatchObject({ stage: 'done', files: [] })
    }
  })
})

describe('one fleet', () => {
  const NETWORK =
    'apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: from-dev, namespace: flux-system}\nspec:\n  podSelector: {}\n  ingress:\n    - from:\n        - namespaceSelector:\n            matchLabels: {toolkit.fluxcd.io/tenant: "dev-team"}\n'
  const CONFIG = '# who may what\ntenants:\n  - name: dev-team # since 2020\n    clusters: [staging, production]\n'
  const fleet = () =>
    withText(acmeFleet(), { 'clusters/staging/network.yaml': NETWORK, '.github/bailiwick.yaml': CONFIG })

  test('what selects the namespaces of the tenant, and the file of the fleet, get the new name too', () => {
    const middle = applied(fleet(), plan(fleet(), 'dev-team', 'web'))
    const change = plan(middle, 'dev-team', 'web')
    const after = applied(middle, change)
    expect(textAt(after, 'clusters/staging/network.yaml')).toContain('{toolkit.fluxcd.io/tenant: "web"}')
    expect(textAt(after, '.github/bailiwick.yaml')).toBe(CONFIG.replace('dev-team', 'web'))
    expect(textAt(after, 'tenants/base/dev-team/sync.yaml')).toContain('serviceAccountName: web')
    expect(change.notes.join()).toContain('the repositories of the tenant were not read')
    expect(plan(after, 'dev-team', 'web').objects.flatMap(({ names }) => names)).toEqual(
      ['production', 'staging'].flatMap(() => [
        'GitRepository apps/dev-team',
        'RoleBinding apps/dev-team-reconciler',
        'ServiceAccount apps/dev-team',
      ]),
    )
  })

  test('a name that YAML reads as something else is quoted', () => {
    const after = applied(fleet(), plan(fleet(), 'dev-team', '123'))
    expect(textAt(after, 'tenants/base/dev-team/rbac.yaml')).toContain('name: "123"')
  })

  test('another tenant has the name', () => {
    const other = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {toolkit.fluxcd.io/tenant: web}}\n'
    const error = refusal(() => plan(withText(fleet(), { 'clusters/staging/shop.yaml': other }), 'dev-team', 'web'))
    expect([error.code, error.message]).toEqual(['offboard-input', 'tenant web already exists'])
  })

  test('another account has the name', () => {
    const other = 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, namespace: apps}\n'
    const error = refusal(() => plan(withText(fleet(), { 'clusters/staging/web.yaml': other }), 'dev-team', 'web'))
    expect(error.message).toBe('ServiceAccount apps/web: already exists and differs from ServiceAccount apps/dev-team')
    expect(error.origin).toMatchObject({ file: 'clusters/staging/web.yaml' })
  })

  test('a patch of one cluster changes the source, and not its successor', () => {
    const overlay = 'tenants/staging/kustomization.yaml'
    const patch =
      '  - target: {kind: GitRepository, name: dev-team}\n    patch: |\n      - {op: replace, path: /spec/interval, value: 9m}\n'
    const text = textAt(fleet(), overlay)!.replace('patches:\n', `patches:\n${patch}`)
    const error = refusal(() => plan(withText(fleet(), { [overlay]: text }), 'dev-team', 'web'))
    expect(error.message).toContain('GitRepository apps/web on staging would be different')
  })

  test('something still names the old account', () => {
    let tree: Tree = fleet()
    for (let step = 0; step < 2; step++) tree = applied(tree, plan(tree, 'dev-team', 'web'))
    const late =
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: late, namespace: apps}\nspec: {template: {spec: {serviceAccountName: dev-team}}}\n'
    const error = refusal(() => plan(withText(tree, { 'clusters/staging/late.yaml': late }), 'dev-team', 'web'))
    expect(error.message).toBe('Deployment apps/late: still names dev-team, which is removed')
  })

  test('the namespaces are those of a Capsule Tenant', () => {
    const file = 'tenants/base/dev-team/rbac.yaml'
    const text = textAt(fleet(), file)!.replace(
      'toolkit.fluxcd.io/tenant: dev-team',
      'capsule.clastix.io/tenant: dev-team\n    toolkit.fluxcd.io/tenant: dev-team',
    )
    expect(refusal(() => plan(withText(fleet(), { [file]: text }), 'dev-team', 'web')).message).toContain(
      'belongs to a Capsule Tenant',
    )
  })

  test('a tenant that is not there', () => {
    expect(plan(fleet(), 'nobody', 'web')).toMatchObject({ stage: 'done', files: [] })
  })
})
