import { describe, expect, test } from 'vitest'
import { overlayTree } from '../../../src/fleet/rendering/trees.ts'
import type { Tree } from '../../../src/git/tree.ts'
import { display, idOf } from '../../../src/kube/object.ts'
import { editedTree, filesBelow, textAt } from '../../../src/tenants/offboard/edited-tree.ts'
import { type OffboardPlan, planOffboarding } from '../../../src/tenants/offboard/plan.ts'
import { fleetAt } from '../../../src/tenants/onboard/tenant-layout.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { refusalOf } from '../../repository/runner/refusal-of.ts'
import { acmeFleet } from '../onboard/fleets.ts'
import { FLEET_URL, LAYOUTS, randomFleet } from './random-fleet.ts'

const plan = (tree: Tree, tenant = 'dev-team', clusters: readonly string[] = []) =>
  planOffboarding({ tenant, clusters }, tree, FLEET_URL, 'main')
const applied = (tree: Tree, { files }: OffboardPlan) =>
  editedTree(tree, new Map(files.map(({ path, content }) => [path, content])))
const withText = (tree: Tree, files: Record<string, string>) => overlayTree(tree, new Map(Object.entries(files)))

/** What each cluster gets from the fleet's own files, as `cluster: Kind namespace/name`. */
const rendered = (tree: Tree) =>
  fleetAt(tree, FLEET_URL, 'main').nodes.flatMap(({ cluster, objects }) =>
    objects.map(object => `${cluster}: ${display(idOf(object))}`),
  )

describe('a tenant with an overlay per cluster', () => {
  test('the first change takes its Kustomizations, and keeps account, role and source', () => {
    const first = plan(acmeFleet())
    expect(first).toMatchObject({ stage: 'workloads', clusters: ['production', 'staging'], notes: [] })
    expect(first.nodes).toEqual([
      { key: 'production/apps/dev-team', cluster: 'production', prunes: true, claims: [] },
      { key: 'staging/apps/dev-team', cluster: 'staging', prunes: true, claims: [] },
    ])
    const after = applied(acmeFleet(), first)
    expect(rendered(acmeFleet()).filter(one => !rendered(after).includes(one))).toEqual([
      'production: Kustomization apps/dev-team',
      'staging: Kustomization apps/dev-team',
    ])
    // a patch without an object would keep the overlay from building
    expect(filesBelow(after, '').filter(path => path.includes('patch'))).toEqual([])
  })

  test('the second takes the rest, with its files', () => {
    const tree = applied(acmeFleet(), plan(acmeFleet()))
    const second = plan(tree)
    expect(second).toMatchObject({ stage: 'rest', nodes: [] })
    expect(second.objects.map(({ names }) => names)).toEqual(
      Array(2).fill([
        'GitRepository apps/dev-team',
        'Namespace apps',
        'RoleBinding apps/dev-team-reconciler',
        'ServiceAccount apps/dev-team',
      ]),
    )
    const after = applied(tree, second)
    expect(filesBelow(after, '').filter(path => path.includes('dev-team'))).toEqual([])
    expect(rendered(after).filter(one => one.includes('apps'))).toEqual([])
    expect(plan(after)).toMatchObject({ stage: 'done', files: [] })
  })

  test('on one cluster, the other keeps everything', () => {
    const first = plan(acmeFleet(), 'dev-team', ['staging'])
    const middle = applied(acmeFleet(), first)
    expect(textAt(middle, 'tenants/staging/dev-team-offboarded.yaml')).toContain('$patch: delete')
    const second = plan(middle, 'dev-team', ['staging'])
    expect(second.stage).toBe('rest')
    const after = applied(middle, second)
    expect(filesBelow(after, '').filter(path => path.includes('dev-team'))).toEqual([
      'tenants/base/dev-team/kustomization.yaml',
      'tenants/base/dev-team/rbac.yaml',
      'tenants/base/dev-team/sync.yaml',
      'tenants/production/dev-team-patch.yaml',
    ])
    const isKept = (one: string) => one.startsWith('production')
    expect(rendered(after).filter(isKept)).toEqual(rendered(acmeFleet()).filter(isKept))
    expect(plan(after, 'dev-team', ['staging']).stage).toBe('done')
  })
})

describe('what speaks of the tenant beside its manifests', () => {
  const beside = () =>
    withText(acmeFleet(), {
      'tenants/base/other.yaml': 'a: b\n',
      CODEOWNERS: '* @acme/platform\n/tenants/base/dev-team/ @acme/dev\n/tenants/base/ @acme/admins\n',
      '.sops.yaml':
        'creation_rules:\n  - path_regex: ^tenants/base/dev-team/.*$\n    age: age1x\n  - path_regex: ^tenants/.*$\n    age: age1y\n',
      '.github/bailiwick.yaml':
        'profile: baseline\ntenants:\n  - name: dev-team\n    profile: baseline\n  - name: ops-team\n    profile: baseline\n',
    })

  test('goes with the second change', () => {
    const middle = applied(beside(), plan(beside()))
    expect(textAt(middle, 'CODEOWNERS')).toContain('dev-team')
    const after = applied(middle, plan(middle))
    expect(textAt(after, 'CODEOWNERS')).toBe('* @acme/platform\n/tenants/base/ @acme/admins\n')
    expect(textAt(after, '.sops.yaml')).toBe('creation_rules:\n  - path_regex: ^tenants/.*$\n    age: age1y\n')
    expect(textAt(after, '.github/bailiwick.yaml')).toBe(
      'profile: baseline\ntenants:\n  - name: ops-team\n    profile: baseline\n',
    )
  })

  test('stays where the tenant stays on a cluster', () => {
    const middle = applied(beside(), plan(beside(), 'dev-team', ['staging']))
    const after = applied(middle, plan(middle, 'dev-team', ['staging']))
    for (const file of ['CODEOWNERS', '.sops.yaml', '.github/bailiwick.yaml']) {
      expect(textAt(after, file)).toBe(textAt(beside(), file))
    }
  })
})

describe('what cannot be edited with certainty is refused, with the line and the edit', () => {
  const SYNC = 'tenants/base/dev-team/sync.yaml'
  const RBAC = 'tenants/base/dev-team/rbac.yaml'
  const acme = acmeFleet()
  const sync = textAt(acme, SYNC)!

  test('a binding that the tenant shares with others', () => {
    const shared =
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: shared}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects:\n- {kind: ServiceAccount, name: dev-team, namespace: apps}\n- {kind: ServiceAccount, name: robot, namespace: infra}\n'
    const error = refusalOf(() => plan(withText(acme, { 'clusters/staging/shared.yaml': shared })))
    expect(error).toMatchObject({ code: 'offboard-layout', origin: { file: 'clusters/staging/shared.yaml', line: 6 } })
    expect(error.message).toBe('ClusterRoleBinding shared on staging: binds accounts of tenant dev-team and others')
    expect(error.fix).toBe('Remove the accounts of dev-team from its subjects, then run the command again.')
  })

  test('one document with objects of both changes', () => {
    const items = sync
      .split('---\n')
      .filter(one => one !== '')
      .map(one => `- ${one.trim().replaceAll('\n', '\n  ')}\n`)
    const list = `apiVersion: v1\nkind: List\nitems:\n${items.join('')}`
    const error = refusalOf(() => plan(withText(acme, { [SYNC]: list })))
    expect(error).toMatchObject({ code: 'offboard-layout', origin: { file: SYNC } })
    expect(error.message).toContain('is written in one document with GitRepository apps/dev-team')
  })

  test('a Kustomization that depends on what goes', () => {
    const file = 'clusters/staging/infrastructure.yaml'
    const waiting = textAt(acme, file)!.replace(
      '  prune: true\n',
      '  prune: true\n  dependsOn: [{name: dev-team, namespace: apps}]\n',
    )
    expect(waiting).toContain('dependsOn')
    const error = refusalOf(() => plan(withText(acme, { [file]: waiting })))
    expect(error.message).toBe('staging/flux-system/infrastructure depends on staging/apps/dev-team, which is removed')
    expect(error.origin).toMatchObject({ file, line: 2 })
  })

  test('a fleet that cannot be rendered', () => {
    const error = refusalOf(() =>
      plan(withText(acme, { 'infrastructure/kustomization.yaml': 'resources: [gone.yaml]\n' })),
    )
    expect(error.message).toContain('infrastructure cannot be rendered')
    expect(error.origin).toMatchObject({ file: 'infrastructure/kustomization.yaml' })
  })

  test('an account that a patch of everybody makes', () => {
    const overlay = 'tenants/staging/kustomization.yaml'
    const text = `${textAt(acme, overlay)}  - patch: "apiVersion: kustomize.toolkit.fluxcd.io/v1\\nkind: Kustomization\\nmetadata: {name: dev-team, namespace: apps}\\nspec: {suspend: false}\\n---\\napiVersion: v1\\nkind: ServiceAccount\\nmetadata: {name: dev-team, namespace: apps, labels: {a: b}}\\n"\n`
    const error = refusalOf(() => plan(withText(acme, { [overlay]: text })))
    expect(error).toMatchObject({ code: 'offboard-layout', origin: { file: SYNC } })
    expect(error.fix).toContain('by hand, with every patch and entry that names it')
  })

  test('a cluster that the fleet does not have, and a tenant that is the platform', () => {
    expect(refusalOf(() => plan(acme, 'dev-team', ['nowhere'])).code).toBe('offboard-input')
    const declared = withText(acme, { '.github/bailiwick.yaml': 'tenants: [{name: dev-team, platform: true}]\n' })
    expect(refusalOf(() => plan(declared)).message).toBe('tenant dev-team is part of the platform')
    expect(plan(withText(acme, { [RBAC]: textAt(acme, RBAC)! }), 'nobody')).toMatchObject({ stage: 'done', files: [] })
  })
})

describe('random fleets', () => {
  const seeds = Array.from({ length: LAYOUTS.length * 6 }, (_, seed) => seed)

  test.each(LAYOUTS.map((layout, index) => [layout, index] as const))('of the layout "%s"', (_layout, index) => {
    for (const seed of seeds.filter(one => one % LAYOUTS.length === index)) {
      const { files, tenants } = randomFleet(seed)
      const tenant = tenants[seed % tenants.length]!
      const clusters = seed % 3 === 0 && tenant.clusters.length > 1 ? tenant.clusters.slice(0, 1) : []
      const before = treeOf(files)
      const middle = applied(before, plan(before, tenant.name, clusters))
      const after = applied(middle, plan(middle, tenant.name, clusters))
      const isOf = (one: string) => {
        const [cluster, rest = ''] = one.split(': ')
        const isHere = clusters.length === 0 || clusters.includes(cluster!)
        return isHere && tenant.namespaces.some(name => rest.includes(` ${name}/`) || rest === `Namespace ${name}`)
      }
      expect(rendered(after)).toEqual(rendered(before).filter(one => !isOf(one)))
      const stays = rendered(middle).filter(isOf)
      expect(stays.filter(one => one.includes('Kustomization'))).toEqual([])
      expect(stays.some(one => one.includes('ServiceAccount'))).toBe(true)
    }
  })
})
