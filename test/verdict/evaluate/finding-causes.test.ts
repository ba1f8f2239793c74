import { expect, test } from 'vitest'
import { EvaluateSession } from '../../../src/verdict/evaluate-sides.ts'
import { type FindingGroup, groupFindings } from '../../../src/verdict/summary.ts'
import { treesOf } from '../../attacks/attack-case.ts'
import { buildTrees, evaluateBuilt } from '../../attacks/evaluate-trees.ts'
import { isNew } from '../../attacks/expectation.ts'
import { type Edit, edited, readRecipes } from '../../rules/recipes/read-recipes.ts'

const WORLD = readRecipes().find(({ document }) => document === 'fluxcd/flux2-multi-tenancy')!.world
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
const wrongRole: Edit = { in: RBAC, from: 'name: cluster-admin', to: 'name: cluster-admn' }
const pathIsRoot = ['dev-team', 'ops-team'].map(
  (tenant): Edit => ({ in: `fleet/tenants/staging/${tenant}-patch.yaml`, from: 'path: ./staging', to: 'path: ./' }),
)

interface Row {
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
  'a binding of the base removed: both clusters lose one line': {
    edits: [{ in: RBAC, text: withoutBinding }],
    groups: [
      'identity-object-tamper production,staging tenants/base/ops-team/rbac.yaml:21',
      'prune-account-removed production,staging tenants/base/ops-team/rbac.yaml:21',
    ],
  },
  'a binding of each overlay removed: each cluster loses its own line': {
    base: [{ in: RBAC, text: withoutBinding }, ...ofBothOverlays],
    edits: ['staging', 'production'].map(cluster => ({
      in: `fleet/tenants/${cluster}/kustomization.yaml`,
      from: '  - binding.yaml',
    })),
    groups: [
      'identity-object-tamper production tenants/production/binding.yaml:4',
      'identity-object-tamper staging tenants/staging/binding.yaml:4',
      'prune-account-removed production tenants/production/binding.yaml:4',
      'prune-account-removed staging tenants/staging/binding.yaml:4',
    ],
  },
  'a path that includes every folder: one error for each tenant': {
    edits: pathIsRoot,
    errors: [
      'HelmRepository apps/podinfo, HelmRelease apps/podinfo are defined twice: their files are included more than once',
      'HelmRepository ops/podinfo, HelmRelease ops/podinfo are defined twice: their files are included more than once',
    ],
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

test.each(Object.entries(rows))('%s', (_, { base = [], edits, groups = [], errors = [] }) => {
  const session = new EvaluateSession()
  const before = edited(WORLD, base)
  const clean = buildTrees(treesOf(before), undefined, session)
  const { verdict } = evaluateBuilt(buildTrees(treesOf(edited(before, edits)), clean, session), clean, session)
  const found = groupFindings(verdict.violations.filter(isNew))
  expect(found.map(one => [textOf(one), ...one.followers.map(textOf)])).toEqual(groups.map(one => [one].flat()))
  expect([...new Set(verdict.errors.filter(isNew).map(({ message }) => message))].sort()).toEqual(errors)
})

function textOf({ finding: { rule, origin }, clusters }: FindingGroup): string {
  return `${rule} ${clusters.join()} ${origin.file}:${origin.line}`
}
