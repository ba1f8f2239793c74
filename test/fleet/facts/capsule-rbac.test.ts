import { expect, test } from 'vitest'
import { capsuleRbac, ofKinds } from '../../../src/fleet/facts/capsule.ts'
import type { FleetIndex } from '../../../src/fleet/facts/fleet-index.ts'
import { objectsOn } from '../../../src/fleet/facts/object-index.ts'
import { display, idOf, type KubeObject } from '../../../src/kube/object.ts'
import { readBinding, readRole } from '../../../src/kube/rbac/binding.ts'
import { plainObject } from '../../base/kube/rbac/plain-object.ts'
import { capsuleMakes, recipeIndex } from './recipe-fleet.ts'

const read = (object: KubeObject) => readRole(object) ?? readBinding(object)
const made = (index: FleetIndex) => capsuleRbac(objectsOn(index, 'staging'), index.capsuleNamespaces('staging'))
const names = (objects: readonly KubeObject[]) => objects.map(object => display(idOf(object)))
const byName = (objects: readonly KubeObject[]) => new Map(objects.map(object => [display(idOf(object)), read(object)]))

test.each(['v0.1.0', 'v0.1.3', 'v0.10.9', 'v0.12.4', 'v0.13.4', 'v0.14.0'])(
  'what Capsule %s and its addon make, as their sources do',
  version => {
    expect(byName(made(recipeIndex(version)))).toEqual(byName(capsuleMakes(version).map(plainObject)))
  },
)

test('an owner has no rights in a home that the platform made, whatever its label', () => {
  const labelled = (text: string) =>
    text.replace('name: oil-system', 'name: oil-system\n  labels: {capsule.clastix.io/tenant: oil}')
  expect(names(made(recipeIndex('v0.10.0', labelled))).filter(name => name.includes(' oil-system/'))).toEqual([])
})

test('an ownerReference makes the home a namespace of the Tenant', () => {
  const reference = '{apiVersion: capsule.clastix.io/v1beta2, kind: Tenant, name: oil, uid: a}'
  const change = (text: string) =>
    text.replace('name: oil-system', `name: oil-system\n  ownerReferences: [${reference}]`)
  expect(names(made(recipeIndex('v0.10.0', change)))).toContain('RoleBinding oil-system/capsule-oil-2-cluster-admin')
})

test('the addon gives an account that owns no Tenant nothing, and leaves what is there', () => {
  const annotated = (text: string) =>
    text.replace(
      '  namespace: oil-system\n---',
      '  namespace: oil-system\n  annotations: {capsule.addon.fluxcd/enabled: "true"}\n---',
    )
  const kept = names(made(recipeIndex('v0.14.0', annotated)))
  // its home becomes one of the Tenant's, its binding is rendered
  expect(kept).toContain('RoleBinding oil-system/capsule:managed:26e5c310a215e392')
  expect(kept).not.toContain('RoleBinding oil-system/gitops-reconciler')
  const foreign = (text: string) =>
    annotated(text).replace('system:serviceaccount:oil-system:gitops-reconciler\n      kind: S', 'alice\n      kind: S')
  expect(names(made(recipeIndex('v0.14.0', foreign))).filter(name => name.includes('oil-system'))).toEqual([])
})

test('a fleet without Capsule gets nothing', () => {
  expect(
    capsuleRbac(
      ofKinds(() => []),
      new Map(),
    ),
  ).toEqual([])
})
