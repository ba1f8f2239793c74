import { expect, test } from 'vitest'
import { capsuleBindings } from '../../src/fleet/tenancy/capsule-bindings.ts'
import type { MapNode } from '../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../src/kube/object.ts'
import { authorizerOf } from '../../src/kube/rbac/authorizer-of.ts'
import { userInfo } from '../../src/kube/rbac/groups-of.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'

const objects = (text: string): KubeObject[] =>
  parseDocuments({ repository: 'r', path: 'a.yaml' }, Buffer.from(text)).map(root => ({
    root: root as MapNode,
    trail: [],
  }))
const tenant = (spec: string) =>
  objects(`apiVersion: capsule.clastix.io/v1beta2\nkind: Tenant\nmetadata: {name: oil}\nspec: ${spec}\n`)
const withHome = (namespace: string) => (namespace === 'oil-system' ? ['oil-system', 'oil-prod'] : [])
const owner = 'system:serviceaccount:oil-system:flux'
const pods = (verb: string, namespace: string) => ({ verb, apiGroup: '', resource: 'pods', namespace, name: 'a' })

test('an owner is admin in every namespace of its tenant', () => {
  const made = capsuleBindings(tenant(`{owners: [{kind: ServiceAccount, name: '${owner}'}]}`), withHome)
  expect(made.map(one => idOf(one).namespace)).toEqual(['oil-system', 'oil-system', 'oil-prod', 'oil-prod'])
  const authorizer = authorizerOf(made)
  expect(authorizer.allows(userInfo(owner), pods('patch', 'oil-prod'))).toBe(true)
  expect(authorizer.allows(userInfo(owner), pods('patch', 'gas'))).toBe(false)
  expect(authorizer.allows(userInfo('system:serviceaccount:oil-prod:flux'), pods('get', 'oil-prod'))).toBe(false)
})

test('the roles of an owner are those that the Tenant names', () => {
  const made = capsuleBindings(
    tenant(`{owners: [{kind: Group, name: 'system:serviceaccounts:oil-system', clusterRoles: [view]}]}`),
    withHome,
  )
  const authorizer = authorizerOf(made)
  expect(authorizer.allows(userInfo(owner), pods('get', 'oil-prod'))).toBe(true)
  expect(authorizer.allows(userInfo(owner), pods('patch', 'oil-prod'))).toBe(false)
})

test('additional bindings count for their subjects', () => {
  const spec = `{additionalRoleBindings: [{clusterRoleName: cluster-admin, subjects: [{kind: ServiceAccount, name: flux, namespace: oil-system}]}]}`
  const authorizer = authorizerOf(capsuleBindings(tenant(spec), withHome))
  expect(
    authorizer.allows(userInfo(owner), {
      verb: 'create',
      apiGroup: 'acme.io',
      resource: 'things',
      namespace: 'oil-prod',
    }),
  ).toBe(true)
})

test('what is no Tenant, or has nobody of the cluster as owner, makes nothing', () => {
  expect(capsuleBindings(objects('apiVersion: v1\nkind: Tenant\nmetadata: {name: a}\n'), withHome)).toEqual([])
  expect(
    capsuleBindings(
      tenant('{owners: [{kind: User, name: alice}, {kind: 1}, null], additionalRoleBindings: x}'),
      withHome,
    ),
  ).toEqual([])
})
