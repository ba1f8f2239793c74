import { expect, test } from 'vitest'
import { EvaluateSession } from '../../../src/verdict/evaluate-sides.ts'
import { type FindingGroup, groupFindings } from '../../../src/verdict/summary.ts'
import { treesOf } from '../../attacks/attack-case.ts'
import { buildTrees, evaluateBuilt } from '../../attacks/evaluate-trees.ts'
import { isNew } from '../../attacks/expectation.ts'
import { type Edit, edited, readRecipes } from '../../rules/recipes/read-recipes.ts'

const worldOf = (start: string) => readRecipes().find(({ document }) => document.startsWith(start))!.world
const WORLD = worldOf('fluxcd/flux2-multi-tenancy')
const CAPSULE = worldOf('capsule, multi-tenancy')
const TENANT = 'fleet/tenants/my-tenant.yaml'
const RBAC = 'fleet/tenants/base/ops-team/rbac.yaml'
const BINDING = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ops-team-reconciler
  namespace: ops
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects:
  - kind: ServiceAccount
    name: ops-team
    namespace: ops
`
const rbac = WORLD.repositories.find(({ name }) => name === 'fleet')!.files['tenants/base/ops-team/rbac.yaml'] as string
const withoutBinding = rbac.slice(0, rbac.lastIndexOf('---\n'))
const ofBothOverlays = ['staging', 'production'].flatMap((cluster): Edit[] => [
  { in: `fleet/tenants/${cluster}/binding.yaml`, text: BINDING },
  { in: `fleet/tenants/${cluster}/kustomization.yaml`, from: 'resources:', to: 'resources:\n  - binding.yaml' },
])
const oneMore = (account: string): Edit => ({
  in: RBAC,
  from: '  - kind: ServiceAccount\n    name: ops-team\n',
  to: `  - kind: ServiceAccount\n    name: ${account}\n    namespace: ops\n  - kind: ServiceAccount\n    name: ops-team\n`,
})
const ROLE_REF = 'roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: cluster-admin\n'
const LABELS = "labels:\n  - pairs: {'bad key': x}\nresources:"
const POLICY = 'fleet/infrastructure/kyverno-policies/verify-git-repositories.yaml'
const KEY = '6EE856AA7CE48D14C66A3D7508298935C375B946'
const OTHER_KEY = '1F3D1CED2F865F5E59CA564553241F147E7C5FA4'
/** The same fleet with a second cluster that has files of its own. */
function ofTwoClusters(world: typeof WORLD): typeof WORLD {
  const copied = (path: string) =>
    path.replace('clusters/staging', 'clusters/other').replace(/^tenants/, 'other-tenants')
  const repositories = world.repositories.map(one => {
    if (one.name !== 'fleet') return one
    const more = Object.entries(one.files).flatMap(([path, text]): [string, string][] => {
      const moved = String(text)
        .replaceAll('clusters/staging', 'clusters/other')
        .replaceAll('path: ./tenants', 'path: ./other-tenants')
      return copied(path) === path ? [] : [[copied(path), moved]]
    })
    return { ...one, files: { ...one.files, ...Object.fromEntries(more) } }
  })
  return { ...world, repositories }
}
const wrongRole: Edit = { in: RBAC, from: 'name: cluster-admin', to: 'name: cluster-admn' }
const pathIsRoot = ['dev-team', 'ops-team'].map(
  (tenant): Edit => ({ in: `fleet/tenants/staging/${tenant}-patch.yaml`, from: 'path: ./staging', to: 'path: ./' }),
)
const labeledHome = (group: string): Edit => ({
  in: TENANT,
  from: '  name: my-tenant\n',
  to: `  name: my-tenant\n  labels: {${group}/tenant: my-tenant}\n`,
})

interface Row {
  /** Absent: WORLD. */
  readonly world?: typeof WORLD
  readonly base?: readonly Edit[]
  readonly edits: readonly Edit[]
  /** `rule clusters file:line`, what follows from it below it. */
  readonly groups?: readonly (string | readonly [string, ...string[]])[]
  /** Distinct errors. */
  readonly errors?: readonly string[]
}

const rows: Record<string, Row> = {
  'a wrong role of a binding with one account': {
    edits: [wrongRole],
    groups: [
      [
        'account-cannot-apply production,staging tenants/base/ops-team/rbac.yaml:26',
        'schema-mismatch production,staging tenants/base/ops-team/rbac.yaml:26',
      ],
    ],
  },
  'a wrong role of a binding whose second account is in use': {
    base: [oneMore('backup')],
    edits: [wrongRole],
    groups: [
      [
        'account-cannot-apply production,staging tenants/base/ops-team/rbac.yaml:26',
        'schema-mismatch production,staging tenants/base/ops-team/rbac.yaml:26',
      ],
    ],
  },
  'a wrong role in each overlay: a finding for each, at its own line': {
    base: [{ in: RBAC, text: withoutBinding }, ...ofBothOverlays],
    edits: ['staging', 'production'].map(cluster => ({
      ...{ in: `fleet/tenants/${cluster}/binding.yaml`, from: 'name: cluster-admin', to: 'name: cluster-admn' },
    })),
    groups: ['production', 'staging'].map(cluster => [
      `account-cannot-apply ${cluster} tenants/${cluster}/binding.yaml:9`,
      `schema-mismatch ${cluster} tenants/${cluster}/binding.yaml:9`,
    ]),
  },
  'a misspelled field: what follows from its absence is at its line': {
    edits: [{ in: 'fleet/clusters/staging/tenants.yaml', from: '  decryption:', to: '  decrypton:' }],
    groups: [
      [
        'sops-not-decrypted staging clusters/staging/tenants.yaml:16',
        'schema-mismatch staging clusters/staging/tenants.yaml:16',
      ],
    ],
  },
  'a binding of the base removed: both clusters lose one line': {
    edits: [{ in: RBAC, text: withoutBinding }],
    groups: [
      [
        'identity-object-tamper production,staging tenants/base/ops-team/rbac.yaml:21',
        'prune-account-removed production,staging tenants/base/ops-team/rbac.yaml:21',
      ],
    ],
  },
  'a binding of each overlay removed: each cluster loses its own line': {
    base: [{ in: RBAC, text: withoutBinding }, ...ofBothOverlays],
    edits: ['staging', 'production'].map(cluster => ({
      in: `fleet/tenants/${cluster}/kustomization.yaml`,
      from: '  - binding.yaml',
    })),
    groups: [
      [
        'identity-object-tamper production tenants/production/binding.yaml:4',
        'prune-account-removed production tenants/production/binding.yaml:4',
      ],
      [
        'identity-object-tamper staging tenants/staging/binding.yaml:4',
        'prune-account-removed staging tenants/staging/binding.yaml:4',
      ],
    ],
  },
  'an impersonation rule too many: at the rule': {
    world: CAPSULE,
    edits: [{ in: TENANT, from: '["users"]', to: '["users", "groups"]' }],
    groups: [
      [
        'rbac-escalation staging tenants/my-tenant.yaml:46',
        'sa-foreign staging tenants/my-tenant.yaml:60',
        'sa-foreign staging config/syncs.yaml:23',
      ],
    ],
  },
  'an impersonation rule that is misspelled: at the word': {
    world: CAPSULE,
    edits: [{ in: TENANT, from: '["impersonate"]', to: '["impersonates"]' }],
    groups: [
      [
        'capsule-account-rights staging tenants/my-tenant.yaml:48',
        'sa-foreign staging tenants/my-tenant.yaml:60',
        'sa-foreign staging config/syncs.yaml:23',
      ],
    ],
  },
  'two tenants bound to the impersonator of one: at the subject': {
    world: CAPSULE,
    edits: [
      {
        ...{ in: TENANT, after: 'kind: ClusterRoleBinding', from: '    namespace: my-tenant\n---' },
        to: '    namespace: my-tenant\n  - kind: ServiceAccount\n    name: gitops-reconciler\n    namespace: oil-system\n---',
      },
    ],
    groups: [
      [
        'rbac-escalation staging tenants/my-tenant.yaml:63',
        'sa-foreign staging tenants/my-tenant.yaml:63',
        'sa-foreign staging syncs.yaml:27',
      ],
    ],
  },
  'a binding that is moved out of its namespace': {
    world: CAPSULE,
    edits: [{ in: TENANT, after: 'kind: RoleBinding', from: '  namespace: my-tenant', to: '  namespace: my-tennant' }],
    groups: [
      [
        'identity-object-tamper staging tenants/my-tenant.yaml:30',
        'sa-foreign staging tenants/my-tenant.yaml:37',
        'sa-foreign staging config/syncs.yaml:23',
        'account-cannot-apply staging tenants/my-tenant.yaml:80',
      ],
    ],
  },
  'a binding that becomes one of the whole cluster': {
    edits: [{ in: RBAC, from: 'kind: RoleBinding', to: 'kind: ClusterRoleBinding' }],
    groups: [
      [
        'identity-object-tamper production,staging tenants/base/ops-team/rbac.yaml:21',
        'sa-foreign production,staging tenants/base/ops-team/rbac.yaml:28',
        'sa-foreign production,staging base/podinfo-release.yaml:7',
      ],
    ],
  },
  'an owner of another namespace': {
    world: CAPSULE,
    edits: [{ in: 'fleet/tenants/oil.yaml', from: 'serviceaccount:oil-system', to: 'serviceaccount:oil' }],
    groups: [
      [
        'capsule-owner-change staging tenants/oil.yaml:26',
        'capsule-group-missing staging infrastructure/capsule/configuration.yaml:6',
      ],
    ],
  },
  'the default account of Flux is another one': {
    world: CAPSULE,
    edits: [
      {
        ...{ in: 'fleet/clusters/staging/flux-system/kustomization.yaml' },
        ...{ from: 'account=gitops-reconciler', to: 'account=gitops-reconcilr' },
      },
    ],
    groups: [
      [
        'flux-lockdown-weakened staging clusters/staging/flux-system/kustomization.yaml:24',
        'namespace-confinement staging config/apps/web.yaml:5',
        'namespace-ownership staging config/namespaces/namespaces.yaml:4',
        'sa-required staging config/syncs.yaml:23',
      ],
    ],
  },
  'a Namespace removed': {
    edits: [{ in: RBAC, from: '  name: ops\n', to: '  name: opz\n' }],
    groups: [
      [
        'mass-deletion production,staging tenants/base/ops-team/rbac.yaml:6',
        'namespace-confinement production,staging tenants/base/ops-team/sync.yaml:24',
        'prune-account-removed production,staging tenants/base/ops-team/rbac.yaml:6',
      ],
    ],
  },
  'a misspelled key that every version of Flux requires': {
    edits: [{ in: 'dev-team/base/podinfo-release.yaml', from: '  interval:', to: '  intervall:' }],
    groups: ['schema-mismatch production,staging base/podinfo-release.yaml:15'],
  },
  'a binding with a misspelled kind of role': {
    edits: [{ in: RBAC, from: 'kind: ClusterRole\n', to: 'kind: ClusterRol\n' }],
    groups: [
      [
        'schema-mismatch production,staging tenants/base/ops-team/rbac.yaml:25',
        'prune-account-removed production,staging tenants/base/ops-team/rbac.yaml:23',
      ],
    ],
  },
  'a binding without its role': {
    edits: [{ in: RBAC, from: ROLE_REF, to: '' }],
    groups: [
      [
        'schema-mismatch production,staging tenants/base/ops-team/rbac.yaml:16',
        'prune-account-removed production,staging tenants/base/ops-team/rbac.yaml:16',
        'schema-mismatch production,staging tenants/base/ops-team/rbac.yaml:16',
      ],
    ],
  },
  'a binding whose role has a misspelled key': {
    world: CAPSULE,
    edits: [{ in: TENANT, after: 'kind: RoleBinding', from: 'roleRef:', to: 'rolRef:' }],
    groups: [
      [
        'schema-mismatch staging tenants/my-tenant.yaml:32',
        'account-cannot-apply staging tenants/my-tenant.yaml:37',
        'capsule-account-rights staging tenants/my-tenant.yaml:78',
        'schema-mismatch staging tenants/my-tenant.yaml:27',
      ],
    ],
  },
  'a rule with a misspelled key': {
    world: CAPSULE,
    edits: [{ in: TENANT, from: 'resourceNames:', to: 'resourceName:' }],
    groups: [
      [
        'schema-mismatch staging tenants/my-tenant.yaml:49',
        'rbac-escalation staging tenants/my-tenant.yaml:46',
        'sa-foreign staging tenants/my-tenant.yaml:60',
        'sa-foreign staging config/syncs.yaml:23',
      ],
    ],
  },
  'all of a tenant in another namespace by one line': {
    edits: [{ in: 'fleet/tenants/base/dev-team/kustomization.yaml', from: 'namespace: apps', to: 'namespace: app' }],
    groups: [
      [
        'mass-deletion production,staging tenants/base/dev-team/sync.yaml:15',
        'tenant-removed production,staging base/podinfo-repository.yaml:5',
        'account-cannot-apply production,staging base/podinfo-release.yaml:4',
        'identity-object-tamper production,staging tenants/base/dev-team/rbac.yaml:13',
        'identity-object-tamper production,staging tenants/base/dev-team/rbac.yaml:21',
        'prune-account-removed production,staging tenants/base/dev-team/kustomization.yaml:3',
      ],
    ],
  },
  'a bad key of a label of all objects': {
    edits: [{ in: 'fleet/tenants/base/ops-team/kustomization.yaml', from: 'resources:', to: LABELS }],
    groups: [
      [
        'schema-mismatch production,staging tenants/base/ops-team/kustomization.yaml:4',
        'prune-account-removed production,staging tenants/base/ops-team/rbac.yaml:23',
      ],
    ],
  },
  'another key in place of one, in a file and in .sops.yaml': {
    edits: [
      { in: 'fleet/tenants/base/ops-team/auth.yaml', from: `fp: ${KEY}`, to: `fp: ${OTHER_KEY}` },
      { in: 'fleet/.sops.yaml', from: `pgp: ${KEY}`, to: `pgp: ${OTHER_KEY}` },
    ],
    groups: [
      [
        'sops-recipient production,staging .sops.yaml:0',
        'sops-recipient production,staging .sops.yaml:4',
        'sops-recipient production,staging tenants/base/ops-team/auth.yaml:1',
        'sops-recipient production,staging tenants/base/ops-team/auth.yaml:14',
      ],
    ],
  },
  'a policy that newly refuses what does not change': {
    edits: [{ in: POLICY, from: 'url: https://github.com/acme/?*', to: 'url: https://example.com/?*' }],
    groups: ['policy-denied production,staging infrastructure/kyverno-policies/verify-git-repositories.yaml:23'],
  },
  'rights that are missing on two clusters, each by its own file': {
    world: ofTwoClusters(CAPSULE),
    edits: ['', 'other-'].map(start => ({
      ...{ in: `fleet/${start}tenants/my-tenant.yaml`, after: 'kind: ClusterRoleBinding' },
      ...{ from: 'name: my-tenant-gitops-reconciler-impersonator', to: 'name: my-tenant-gitops-reconciler-imp' },
    })),
    groups: ['other-', ''].map(start => [
      `capsule-account-rights ${start === '' ? 'staging' : 'other'} ${start}tenants/my-tenant.yaml:58`,
      `schema-mismatch ${start === '' ? 'staging' : 'other'} ${start}tenants/my-tenant.yaml:58`,
    ]),
  },
  'a path that includes every folder: one error for each tenant': {
    edits: pathIsRoot,
    errors: [
      'HelmRepository apps/podinfo, HelmRelease apps/podinfo are defined twice: their files are included more than once',
      'HelmRepository ops/podinfo, HelmRelease ops/podinfo are defined twice: their files are included more than once',
    ],
  },
  'the Flux label of a Capsule home that another tenant gets: what its account labels follows': {
    world: CAPSULE,
    base: [
      labeledHome('toolkit.fluxcd.io'),
      {
        in: 'my-tenant/config/namespaces/namespaces.yaml',
        from: '  labels:',
        to: '  labels:\n    toolkit.fluxcd.io/tenant: my-tenant',
      },
    ],
    edits: [{ in: TENANT, from: 'toolkit.fluxcd.io/tenant: my-tenant', to: 'toolkit.fluxcd.io/tenant: my-tennant' }],
    groups: [
      [
        'namespace-ownership staging tenants/my-tenant.yaml:5',
        'namespace-ownership staging config/namespaces/namespaces.yaml:6',
      ],
    ],
  },
  'the rbac.yaml of a base, which two overlays render': {
    edits: [{ in: 'fleet/tenants/base/dev-team/kustomization.yaml', from: '  - rbac.yaml' }],
    groups: [
      [
        'mass-deletion production,staging tenants/base/dev-team/rbac.yaml:1',
        'namespace-confinement production,staging tenants/base/dev-team/sync.yaml:22',
        'identity-object-tamper production,staging tenants/base/dev-team/rbac.yaml:8',
        'identity-object-tamper production,staging tenants/base/dev-team/rbac.yaml:16',
        'prune-account-removed production,staging tenants/base/dev-team/rbac.yaml:1',
      ],
    ],
  },
  'a Capsule Tenant under another name': {
    world: CAPSULE,
    base: [labeledHome('capsule.clastix.io')],
    edits: [{ in: TENANT, after: 'kind: Tenant', from: 'name: my-tenant', to: 'name: my-tenants' }],
    groups: [
      [
        'mass-deletion staging tenants/my-tenant.yaml:16',
        'namespace-ownership staging tenants/my-tenant.yaml:5',
        'namespace-ownership staging config/namespaces/namespaces.yaml:6',
        'account-cannot-apply staging config/syncs.yaml:23',
      ],
    ],
  },
  'a misspelled account of what writes Namespaces': {
    world: CAPSULE,
    edits: [
      {
        in: 'my-tenant/config/syncs.yaml',
        from: '  kubeConfig:',
        to: '  serviceAccountName: gitops-reconcilr\n  kubeConfig:',
      },
    ],
    groups: [
      ['namespace-ownership staging config/syncs.yaml:9', 'namespace-confinement staging config/apps/web.yaml:5'],
    ],
  },
  'a misspelled key of the kubeconfig of a tenant': {
    world: CAPSULE,
    edits: [{ in: 'my-tenant/config/syncs.yaml', from: 'key: kubeconfig', to: 'key: kubeconfg' }],
    groups: [['kubeconfig-ref staging config/syncs.yaml:12', 'kubeconfig-ref staging config/syncs.yaml:11']],
  },
  'another definition of two objects: an error for each': {
    edits: [
      {
        in: 'ops-team/staging/more.yaml',
        text: ['a', 'a', 'b', 'b']
          .map(name => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ops\n`)
          .join('---\n'),
      },
      { in: 'ops-team/staging/kustomization.yaml', from: 'resources:', to: 'resources:\n  - more.yaml' },
    ],
    errors: [
      'ConfigMap ops/a is defined twice: here and in staging/more.yaml:2',
      'ConfigMap ops/b is defined twice: here and in staging/more.yaml:14',
    ],
  },
}

test('a value of a release whose overlays differ: one warning', () => {
  const edits = [
    { in: 'dev-team/base/podinfo-release.yaml', from: '  interval: 5m', to: '  interval: 5m\n  values: {a: b}' },
  ]
  const clean = buildTrees(treesOf(WORLD))
  const { verdict } = evaluateBuilt(buildTrees(treesOf(edited(WORLD, edits)), clean), clean)
  const found = groupFindings(verdict.warnings.filter(isNew))
  expect(found.map(textOf)).toEqual(['chart-not-rendered production,staging base/podinfo-release.yaml:16'])
})

test.each(Object.entries(rows))('%s', (_, { world = WORLD, base = [], edits, groups = [], errors = [] }) => {
  const session = new EvaluateSession()
  const before = edited(world, base)
  const clean = buildTrees(treesOf(before), undefined, session)
  const { verdict } = evaluateBuilt(buildTrees(treesOf(edited(before, edits)), clean, session), clean, session)
  const found = groupFindings(verdict.violations.filter(isNew))
  expect(found.map(one => [textOf(one), ...one.followers.map(textOf)])).toEqual(groups.map(one => [one].flat()))
  expect([...new Set(verdict.errors.filter(isNew).map(({ message }) => message))].sort()).toEqual(errors)
})

function textOf({ finding: { rule, origin }, clusters }: FindingGroup): string {
  return `${rule} ${clusters.join()} ${origin.file}:${origin.line}`
}
