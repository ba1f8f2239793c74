import { expect, test } from 'vitest'
import { auditFleet } from '../../../src/verdict/audit/audit-fleet.ts'
import { treesOf } from '../../attacks/attack-case.ts'
import { buildTrees } from '../../attacks/evaluate-trees.ts'
import { worlds } from '../../attacks/worlds/index.ts'
import { type Files, fleetOf } from '../../fleet/fleet-of.ts'
import { type Edit, edited, readRecipes } from '../../rules/recipes/read-recipes.ts'

const TENANT = 'tenants/dev-team.yaml'
const [fleet] = worlds.get('capsule')!.repositories

/** The states of the steps for dev-team's account, after an edit of the fleet's files. */
function statesOf(edit: (files: Record<string, string>) => void): Record<string, string> {
  const files: Record<string, string> = { ...fleet!.files } as Record<string, string>
  edit(files)
  const [audit] = auditFleet(fleetOf({ url: fleet!.url, fleet: files as Files }), ['staging'], new Set(['dev-team']))
  const rows = audit!.items.filter(({ check }) => check.startsWith('capsule-'))
  return Object.fromEntries(rows.map(({ check, state }) => [check.slice('capsule-'.length), state]))
}

const replaced = (file: string, from: string | RegExp, to: string) => (files: Record<string, string>) => {
  const text = files[file]!.replace(from, to)
  expect(text).not.toBe(files[file])
  files[file] = text
}

const COMPLETE = {
  account: 'ok',
  'tenant-role': 'ok',
  'home-role': 'ok',
  user: 'ok',
  impersonation: 'ok',
  // git cannot hold it
  kubeconfig: 'unknown',
  sync: 'ok',
}
const BINDING = /(kind: RoleBinding[\s\S]*?name: )cluster-admin/
/** The Tenant gives its owner the role `view` only. */
const reading = (files: Record<string, string>) => {
  replaced(TENANT, /additionalRoleBindings:/, 'others:')(files)
  replaced(TENANT, '  namespaceOptions:', '      clusterRoles: [view]\n  namespaceOptions:')(files)
}

test.each<[string, Record<string, string>, (files: Record<string, string>) => void]>([
  ['all of them', {}, () => {}],
  [
    'the account is not there',
    { account: 'weak' },
    replaced(
      TENANT,
      /kind: ServiceAccount\nmetadata:\n {2}name: gitops-reconciler/,
      'kind: ServiceAccount\nmetadata:\n  name: other',
    ),
  ],
  ['no role that writes', { 'tenant-role': 'weak' }, reading],
  [
    'a misspelled role in the home, and none that writes',
    { 'home-role': 'weak', 'tenant-role': 'weak' },
    files => {
      replaced(TENANT, BINDING, '$1nothing')(files)
      reading(files)
    },
  ],
  ['no CapsuleConfiguration in git', { user: 'unknown' }, files => delete files['capsule/configuration.yaml']],
  [
    'not in its groups',
    { user: 'weak' },
    replaced('capsule/configuration.yaml', '    - system:serviceaccounts:dev-team\n', ''),
  ],
  [
    'a misspelled role of impersonation',
    { impersonation: 'weak' },
    replaced(
      TENANT,
      /kind: ClusterRole\n {2}name: dev-team-gitops-reconciler-impersonator/,
      'kind: ClusterRole\n  name: dev-team-gitops-impersonator',
    ),
  ],
  ['no kubeconfig', { sync: 'weak' }, replaced(TENANT, / {2}kubeConfig:\n.*\n.*\n.*\n/, '')],
])('steps of the recipe: %s', (_, wanted, edit) => {
  expect(statesOf(edit)).toEqual({ ...COMPLETE, ...wanted })
})

test('capsule-addon-fluxcd makes the rights in the home, at the proxy, and the kubeconfig', () => {
  const made = statesOf(files => {
    replaced(TENANT, BINDING, '$1nothing')(files)
    replaced(
      TENANT,
      'kind: ServiceAccount\nmetadata:\n',
      'kind: ServiceAccount\nmetadata:\n  annotations: {capsule.addon.fluxcd/enabled: "true"}\n',
    )(files)
  })
  expect(made).toEqual({ ...COMPLETE, kubeconfig: 'ok' })
})

test("what the recipe's tenants can write of sources: cluster-admin, and no role that Capsule binds to the same account", () => {
  const { world } = readRecipes().find(({ document }) => document.startsWith('capsule, multi-tenancy'))!
  const weakOf = (edits: readonly Edit[]) => {
    const [audit] = auditFleet(buildTrees(treesOf(edited(world, edits))).fleet, ['staging'])
    const weak = audit!.items.filter(({ check, state }) => check === 'status-writers' && state === 'weak')
    return weak.map(({ message }) => message.split(' includes')[0])
  }
  expect(weakOf([])).toEqual(['ClusterRole "cluster-admin"'])
  const others: Edit = {
    in: 'fleet/tenants/my-tenant.yaml',
    from: 'clusterRoleName: cluster-admin',
    to: 'clusterRoleName: view',
  }
  expect(weakOf([others])).toEqual(['ClusterRole "cluster-admin"', 'ClusterRole "admin"'])
})
