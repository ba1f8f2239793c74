import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { overlayTree } from '../../src/fleet/bootstrap/overlay-tree.ts'
import { parseOnboardArguments } from '../../src/onboard/parse-command.ts'
import { planOnboarding } from '../../src/onboard/plan.ts'
import { pullRequestText } from '../../src/onboard/pull-request-text.ts'
import { acmeFleet } from './fleets.ts'

const ARGS = ['ops-team', '--repo', 'https://github.com/acme/ops-team', '--namespace', 'ops', '--role', 'admin']
const TENANT =
  'apiVersion: capsule.clastix.io/v1beta1\nkind: Tenant\nmetadata:\n  name: dev-team\nspec:\n  owners: []\n'

function bodyOn(clusters: readonly string[], tenant: string): string {
  const rbac = 'tenants/base/dev-team/rbac.yaml'
  const text = new TextDecoder().decode(acmeFleet().read(rbac))
  const tree = overlayTree(acmeFleet(), new Map([[rbac, `${text.trimEnd()}\n---\n${tenant}`]]))
  const request = parseOnboardArguments([...ARGS, ...clusters.flatMap(name => ['--cluster', name])])
  return pullRequestText(request, planOnboarding(request, tree, 'https://github.com/acme/fleet', 'main')).body
}

test('a cluster with Capsule: what is left to do, with the objects and the commands', () => {
  const body = bodyOn(['staging'], TENANT)
  expect(body).toContain('⚠️ `staging`: tenants there are Capsule Tenants, and this pull request does not make one.')
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(body) ?? []
  const [tenant, role, binding] = parseAllDocuments(yaml).map(document => document.toJS())
  const subjects = [{ kind: 'ServiceAccount', name: 'ops-team', namespace: 'ops' }]
  expect(tenant.spec).toEqual({
    additionalRoleBindings: [{ clusterRoleName: 'admin', subjects }],
    owners: [{ kind: 'ServiceAccount', name: 'system:serviceaccount:ops:ops-team' }],
  })
  expect(role.rules).toEqual([
    {
      apiGroups: [''],
      resources: ['users'],
      verbs: ['impersonate'],
      resourceNames: ['system:serviceaccount:ops:ops-team'],
    },
  ])
  expect([binding.roleRef.name, binding.subjects]).toEqual([role.metadata.name, subjects])
  for (const words of ['`system:serviceaccounts:ops`', '--duration=24h', 'secretRef: {name: ops-team-kubeconfig']) {
    expect(body).toContain(words)
  }
})

test('a kind of the same name in another group is not Capsule', () => {
  expect(bodyOn(['staging'], TENANT.replace('capsule.clastix.io', 'minio.min.io'))).not.toContain('Capsule')
})
