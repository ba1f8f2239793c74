import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/errors.ts'
import { overlayTree } from '../../src/fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../../src/git/tree.ts'
import { canonical } from '../../src/kube/node.ts'
import { display, idOf } from '../../src/kube/object.ts'
import { editedTree, textAt } from '../../src/offboard/edited-tree.ts'
import { type OffboardPlan, planOffboarding } from '../../src/offboard/plan.ts'
import { fleetAt } from '../../src/onboard/fleet-at.ts'
import { treeOf } from '../git/tree-of.ts'
import { FLEET_URL, LAYOUTS, type RandomFleet, randomFleet } from './random-fleet.ts'

const plan = (tree: Tree, namespace: string, tenant: string) =>
  planOffboarding({ tenant, clusters: [], namespace }, tree, FLEET_URL, 'main')
const applied = (tree: Tree, { files }: OffboardPlan) =>
  editedTree(tree, new Map(files.map(({ path, content }) => [path, content])))
const withText = (tree: Tree, files: Record<string, string>) => overlayTree(tree, new Map(Object.entries(files)))
const owners = (tree: Tree) => fleetAt(tree, FLEET_URL, 'main').clusters.map(one => Object.fromEntries(one.owners!))

function rendered(tree: Tree): Map<string, string> {
  return new Map(
    fleetAt(tree, FLEET_URL, 'main').nodes.flatMap(({ cluster, objects }) =>
      objects.map(one => [`${cluster} ${display(idOf(one))}`, canonical(one.root)] as const),
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

/** Two tenants of a fleet on the same clusters, one of them with a second namespace. */
function pair({ tenants }: RandomFleet) {
  const same = (a: readonly string[], b: readonly string[]) => [...a].sort().join() === [...b].sort().join()
  for (const giver of tenants.filter(({ namespaces }) => namespaces.length > 1)) {
    const taker = tenants.find(one => one !== giver && same(one.clusters, giver.clusters))
    if (taker) return { giver, taker }
  }
  return undefined
}

describe('a namespace of random fleets gets another tenant', () => {
  test.each(LAYOUTS.map((layout, index) => [layout, index] as const))('layout "%s"', (_layout, index) => {
    let found: ReturnType<typeof pair>
    let seed = index
    while (!found) {
      seed += LAYOUTS.length
      found = pair(randomFleet(seed))
    }
    const { giver, taker } = found
    const first = treeOf(randomFleet(seed).files)
    const [, namespace] = giver.namespaces
    const old = rendered(first)
    const clusters = fleetAt(first, FLEET_URL, 'main').clusters.filter(one => one.owners!.has(namespace!))
    const change = plan(first, namespace!, taker.name)
    expect(change).toMatchObject({ stage: 'switch', clusters: clusters.map(({ name }) => name).sort(), nodes: [] })
    const second = applied(first, change)
    const both = rendered(second)
    // nothing goes, and only what is in the namespace changes or comes
    expect([...both.keys()]).toEqual(expect.arrayContaining([...old.keys()]))
    for (const [name, text] of both)
      if (!name.includes(` ${namespace}/`) && !name.endsWith(` Namespace ${namespace}`))
        expect(text).toBe(old.get(name))
    for (const [at, before] of owners(first).entries()) {
      const wanted = before[namespace!] === undefined ? before : { ...before, [namespace!]: taker.name }
      expect(owners(second)[at]).toEqual(wanted)
    }
    for (const { name: cluster } of clusters)
      expect(both.get(`${cluster} RoleBinding ${namespace}/${taker.name}-reconciler`)).toContain(
        `"namespace":"${taker.namespaces[0]}"`,
      )
    // the giver's own binding is of an account of that very namespace
    expect(plan(second, namespace!, taker.name)).toMatchObject({ stage: 'done', files: [] })
  })
})

const LABEL = 'labels: {toolkit.fluxcd.io/tenant: '
const NAMESPACES = ['a', 'a-more']
  .map(name => `---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, ${LABEL}a}}\n`)
  .join('')
const binding = (name: string, namespace: string, subjects: readonly string[]) =>
  `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: ${name}, namespace: ${namespace}}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\nsubjects:\n${subjects.map(of => `  - {kind: ServiceAccount, name: ${of}, namespace: ${of}}\n`).join('')}`

describe('a tenant whose account has rights in a second namespace', () => {
  const random = Array.from({ length: 400 }, (_, seed) => randomFleet(seed)).find(
    ({ layout, clusters }) => layout === 'plain' && clusters.length === 1,
  )!
  const b = random.tenants[0]!
  const files = (more: string) =>
    withText(treeOf(random.files), { [`clusters/${random.clusters[0]}/a.yaml`]: NAMESPACES + more })
  const rights = binding('of-a', 'a-more', ['a'])

  test('loses them in a second change, which is not before the first', () => {
    const change = plan(files(rights), 'a-more', b.name)
    expect(change.notes.join()).toContain(`tenant ${b.name} can then read every Secret of a-more`)
    const middle = applied(files(rights), change)
    expect(textAt(middle, `clusters/${random.clusters[0]}/a.yaml`)).toContain('name: of-a')
    const last = plan(middle, 'a-more', b.name)
    expect(last).toMatchObject({ stage: 'rest', objects: [{ names: ['RoleBinding a-more/of-a'] }] })
    const after = applied(middle, last)
    expect(textAt(after, `clusters/${random.clusters[0]}/a.yaml`)).not.toContain('of-a')
    expect(plan(after, 'a-more', b.name).stage).toBe('done')
  })

  test.each([
    ['a role in another namespace of the tenant', binding('outside', 'a', ['a-more']), 'RoleBinding a/outside'],
    [
      'a role of the cluster',
      binding('all', '', ['a-more'])
        .replaceAll('kind: RoleBinding', 'kind: ClusterRoleBinding')
        .replace(', namespace: }', '}'),
      'ClusterRoleBinding all',
    ],
  ])('accounts of the namespace with %s are not given away', (_, more, name) => {
    const error = refusal(() => plan(files(more), 'a-more', b.name))
    expect(error.message).toContain(`${name} on ${random.clusters[0]}: gives an account of a-more rights outside of it`)
    expect(error.origin).toMatchObject({ file: `clusters/${random.clusters[0]}/a.yaml` })
  })

  test('a binding of both is split by people first', () => {
    const more = binding('both', 'a-more', ['a', 'a-more'])
    const middle = applied(files(more), plan(files(more), 'a-more', b.name))
    expect(refusal(() => plan(middle, 'a-more', b.name)).message).toContain(
      `binds accounts of tenant ${b.name} and of others`,
    )
  })

  test('a Kustomization of the former tenant still applies there', () => {
    const sync =
      '---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: app, namespace: a}\nspec: {targetNamespace: a-more}\n'
    const middle = applied(files(rights + sync), plan(files(rights + sync), 'a-more', b.name))
    expect(refusal(() => plan(middle, 'a-more', b.name)).message).toContain('HelmRelease a/app')
  })

  test('the file of the fleet gives the namespace', () => {
    const config = `tenants:\n  - name: a\n    namespaces: [a-more, other] # by hand\n`
    const tree = withText(treeOf(random.files), {
      [`clusters/${random.clusters[0]}/a.yaml`]:
        'apiVersion: v1\nkind: Namespace\nmetadata: {name: a-more}\n' +
        NAMESPACES.split('---\n')[1]!.replace(/^/, '---\n'),
      '.github/bailiwick.yaml': config,
    })
    const after = applied(tree, plan(tree, 'a-more', b.name))
    expect(owners(after)[0]).toMatchObject({ 'a-more': b.name })
    expect(textAt(after, '.github/bailiwick.yaml')).toContain(`- name: ${b.name}`)
  })

  test.each([
    ['a namespace of no tenant', 'flux-system', b.name, 'namespace flux-system does not belong to a tenant'],
    ['to a tenant that is not there', 'a-more', 'nobody', 'tenant nobody is not on'],
  ])('%s', (_, namespace, tenant, reason) => {
    expect(refusal(() => plan(files(''), namespace, tenant)).message).toContain(reason)
  })
})
