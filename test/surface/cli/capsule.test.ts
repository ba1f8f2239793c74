import { expect, test } from 'vitest'
import { recipe } from '../../attacks/worlds/recipe.ts'
import { run, scratch, write } from './run-main.ts'

const OIL = 'oil-system/gitops-reconciler'
const impersonate = (tenant: string) => `users/system:serviceaccount:${tenant}-system:gitops-reconciler`

/** Runs a command on the fleet of Capsule's document. */
const ask = (...args: readonly string[]) => askOf({}, ...args)

/** The same, with other files of the fleet. */
async function askOf(fleet: Record<string, string>, ...args: readonly string[]): Promise<string> {
  const dir = scratch()
  for (const { name, files } of recipe.repositories) write(`${dir}/${name}`, files as Record<string, string>)
  write(`${dir}/fleet`, fleet)
  const [, ...others] = recipe.repositories
  const given = others.flatMap(({ name, url }) => ['--repo', `${url}=${dir}/${name}`])
  const { stdout, stderr } = await run(dir, ...args, 'fleet', ...given)
  return `${stdout}${stderr}`
}

test.each([
  [['create', 'namespaces'], 'yes', 'ClusterRoleBinding capsule-namespace-provisioner gives'],
  [['patch', 'deployments', '-n', 'oil-dev'], 'yes', 'RoleBinding oil-dev/capsule-oil-0-admin gives'],
  [['patch', 'deployments', '-n', 'oil-system'], 'yes', 'RoleBinding oil-system/gitops-reconciler gives'],
  [['patch', 'deployments', '-n', 'gas-dev'], 'no', 'is forbidden'],
  [['impersonate', impersonate('oil')], 'yes', 'ClusterRoleBinding oil-gitops-reconciler-impersonate gives'],
  [['impersonate', impersonate('gas')], 'no', 'cannot impersonate resource "users" in API group ""'],
])('can-i %j', async (question, answer, by) => {
  const said = await ask('can-i', ...question, '--as', OIL)
  expect(said).toContain(`${answer}, on staging`)
  expect(said).toContain(by)
})

test('who may create namespaces, as Capsule lets its users', async () => {
  expect(await ask('who-can', 'create', 'namespaces')).toMatch(/Group system:serviceaccounts:gas-system.*provisioner/)
})

test('without a CapsuleConfiguration, nobody knows whether an owner of a Tenant may create namespaces', async () => {
  const none = { 'capsule/configuration.yaml': '# elsewhere\n' }
  const said = await askOf(none, 'can-i', 'create', 'namespaces', '--as', OIL)
  expect(said).toContain('unknown, on staging')
  expect(said).toContain(
    'no CapsuleConfiguration is rendered, so whether Capsule lets owners of Tenant oil create Namespaces is unknown',
  )
  const other = await askOf(none, 'can-i', 'create', 'namespaces', '--as', 'oil-system/default')
  expect(other).toContain('no, on staging')
  expect(await askOf(none, 'who-can', 'create', 'namespaces')).toContain('owners of Tenant gas')
})

test('who may delete a Namespace is asked inside it, as can-i asks', async () => {
  const said = await ask('who-can', 'delete', 'namespaces/oil-dev')
  expect(said).toMatch(/ServiceAccount oil-system\/gitops-reconciler +RoleBinding/)
  expect(said).not.toContain('gas-system')
})

test('what a tenant needs to be itself and to make namespaces changes no namespace of another one', async () => {
  const access = await ask('access', 'oil-dev')
  expect(access).toContain('Kustomization oil-system/oil')
  expect(access).not.toMatch(/gas|impersonator|provisioner/)
})

test('the account that owns a Tenant is no account without rights to audit', async () => {
  expect(await ask('audit')).not.toMatch(/weak +default-account/)
})

test('an account with rights in another Tenant is one finding, whatever roles it has and what it applies', async () => {
  const tenant = recipe.repositories[0]!.files['tenants/oil.yaml'] as string
  const owner = '    - name: system:serviceaccount:oil-system:gitops-reconciler\n      kind: ServiceAccount\n'
  expect(tenant).toContain(owner)
  const both = tenant.replace(owner, `${owner}${owner.replace('oil', 'gas')}`)
  const said = await askOf({ 'tenants/oil.yaml': both }, 'check')
  expect(said.match(/violation\[sa-foreign\]/g)).toHaveLength(1)
})
