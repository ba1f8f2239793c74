import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareIds, waves } from '../../src/cluster/apply-order.ts'
import { entryOf, idOfEntry, unionEntries } from '../../src/cluster/inventory.ts'

const KINDS: readonly (readonly [apiVersion: string, kind: string])[] = [
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['v1', 'Namespace'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
  ['storage.k8s.io/v1', 'StorageClass'],
  ['acme.example/v1', 'TenantClass'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'],
  ['v1', 'ServiceAccount'],
  ['rbac.authorization.k8s.io/v1', 'Role'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
  ['v1', 'ConfigMap'],
  ['apps/v1', 'Deployment'],
  ['acme.example/v1', 'Widget'],
  ['batch/v1', 'Job'],
  ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
]
const id = ([apiVersion, kind]: readonly [string, string], name = 'x', namespace = 'apps') => ({
  apiVersion,
  kind,
  namespace,
  name,
})

describe('order of applying', () => {
  test("is Flux's, in three stages", () => {
    const shuffled = [...KINDS].reverse().map(kind => ({ id: id(kind) }))
    const found = waves(shuffled).map(wave => [wave.stage, wave.items.map(item => item.id.kind).join()])
    expect(found).toEqual([
      [1, 'CustomResourceDefinition'],
      [1, 'Namespace'],
      [1, 'ClusterRole'],
      [2, 'StorageClass'],
      [2, 'TenantClass'],
      [3, 'ClusterRoleBinding'],
      [3, 'ServiceAccount'],
      [3, 'Role'],
      [3, 'RoleBinding'],
      [3, 'ConfigMap'],
      [3, 'Deployment'],
      [3, 'Widget,Job'],
      [3, 'MutatingWebhookConfiguration'],
      [3, 'ValidatingWebhookConfiguration'],
    ])
  })

  test('does not depend on the order of the input', () => {
    const ids = fc.uniqueArray(
      fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom('a', 'b'), fc.constantFrom('', 'n')),
      {
        selector: ([kind, name, namespace]) => `${kind[1]} ${name} ${namespace}`,
      },
    )
    fc.assert(
      fc.property(ids, fc.infiniteStream(fc.nat()), (list, dice) => {
        const items = list.map(([kind, name, namespace]) => ({ id: id(kind, name, namespace) }))
        const shuffled = items.map(item => ({ item, at: dice.next().value })).sort((a, b) => a.at - b.at)
        expect(waves(shuffled.map(({ item }) => item))).toEqual(waves(items))
        for (const a of items)
          for (const b of items) {
            expect(Math.sign(compareIds(a.id, b.id))).toBe(-Math.sign(compareIds(b.id, a.id)) || 0)
          }
      }),
    )
  })
})

describe('inventory entries', () => {
  test.each([
    [id(['apps/v1', 'Deployment'], 'web'), { id: 'apps_web_apps_Deployment', v: 'v1' }],
    [id(['v1', 'Namespace'], 'apps', ''), { id: '_apps__Namespace', v: 'v1' }],
    [
      id(['rbac.authorization.k8s.io/v1', 'ClusterRole'], 'system:a:b', ''),
      { id: '_system__a__b_rbac.authorization.k8s.io_ClusterRole', v: 'v1' },
    ],
    [
      id(['rbac.authorization.k8s.io/v1', 'Role'], 'with_underscore', 'apps'),
      { id: 'apps_with_underscore_rbac.authorization.k8s.io_Role', v: 'v1' },
    ],
  ])('%j has the id that Flux writes, and comes back', (object, entry) => {
    expect(entryOf(object)).toEqual(entry)
    expect(idOfEntry(entry)).toEqual(object)
  })

  test('a name that would come back as another is refused', () => {
    const role = id(['rbac.authorization.k8s.io/v1', 'Role'], 'a__b')
    expect(() => entryOf(role)).toThrow(expect.objectContaining({ code: 'cluster-invalid' }))
  })

  test.each(['', 'x', 'a_b_c', '__', 'apps___'])('%j is no entry', text => {
    expect(() => idOfEntry({ id: text, v: 'v1' })).toThrow('is not an id of an inventory entry')
  })

  test('the union holds every id once, the newer version, the known uid', () => {
    const before = [{ id: 'n_a__ConfigMap', v: 'v1beta1', uid: 'u' }]
    const after = [
      { id: 'n_b__ConfigMap', v: 'v1' },
      { id: 'n_a__ConfigMap', v: 'v1' },
    ]
    expect(unionEntries(before, after)).toEqual([{ id: 'n_a__ConfigMap', v: 'v1', uid: 'u' }, after[0]])
  })
})
