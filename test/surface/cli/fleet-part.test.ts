import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run, write } from './run-main.ts'
import { twoTenants } from './two-tenants.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const CLONES = ['--repo', 'https://github.com/acme/dev-team=dev-team']

/** Commands that read a fleet and take both options, with arguments that make them work. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  check: ['check', 'fleet'],
  fix: ['fix', 'fleet'],
  audit: ['audit', 'fleet'],
  graph: ['graph', 'fleet'],
  build: ['build', 'fleet', '--cluster', 'staging'],
  'can-i': ['can-i', 'get', 'pods', 'fleet', '-n', 'apps'],
}

describe.each(Object.entries(COMMANDS))('%s', (_name, args) => {
  test('an unknown tenant is an error with the one that was meant, never an empty result', async () => {
    const { code, stdout, stderr } = await run(ACME, ...args, '--tenant', 'dev-taem')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe('error[usage]: no tenant "dev-taem"; there are: dev-team. Did you mean dev-team?\n')
  })

  test('an unknown cluster too', async () => {
    const { code, stdout, stderr } = await run(
      ACME,
      ...args.filter(arg => arg !== '--cluster' && arg !== 'staging'),
      '--cluster',
      'stagin',
      ...(args[0] === 'can-i' ? ['--as', 'apps/dev-team'] : []),
    )
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe('error[usage]: no cluster "stagin"; there are: production, staging. Did you mean staging?\n')
  })
})

test('the fleet is named as in check, too, and once', async () => {
  const question = ['can-i', 'get', 'pods', '-n', 'apps', '--as', 'apps/dev-team']
  const named = await run(ACME, ...question, '--fleet', 'fleet')
  expect(named).toEqual(await run(ACME, 'can-i', 'get', 'pods', 'fleet', ...question.slice(3)))
  expect(named.stdout).toMatch(/^(?:yes|no), on /)
  const access = await run(ACME, 'access', 'apps', '--fleet=fleet')
  expect([access.code, access.stdout]).toEqual([0, expect.stringContaining('belongs to tenant dev-team')])
  expect((await run(ACME, 'access', 'apps', 'fleet', '--fleet', 'fleet')).stderr).toBe(
    'error[usage]: FLEET and --fleet are the same. Write one of them.\n',
  )
})

test('a part of an audit says what it leaves out', async () => {
  const dir = twoTenants({ tenant: 'dev-team', namespace: 'apps', cluster: 'staging' })
  const whole = await run(dir, 'audit')
  const part = await run(dir, 'audit', '--tenant', 'ops-team', '--cluster', 'staging')
  expect(whole.stdout).not.toContain('not listed')
  expect(part.stdout).toMatch(
    /\nonly cluster staging and tenant ops-team; not listed: 1 other cluster, 1 other tenant, the platform\n$/,
  )
  expect([whole.stdout, part.stdout].map(text => /"ops"/.test(text))).toEqual([true, true])
  expect([whole.stdout, part.stdout].map(text => /"apps"/.test(text))).toEqual([true, false])
})

test('a tenant that is on none of the clusters is an error with those that it is on', async () => {
  const dir = twoTenants({ tenant: 'dev-team', namespace: 'apps', cluster: 'staging' })
  write(dir, { 'tenants/staging/kustomization.yaml': 'resources: []\n' })
  const { code, stderr } = await run(dir, 'graph', '--tenant', 'dev-team', '--cluster', 'staging')
  expect([code, stderr]).toEqual([
    2,
    'error[usage]: tenant dev-team is not on staging. Name one of its clusters with --cluster: production.\n',
  ])
})

test('who can change the namespaces of a tenant', async () => {
  const { code, stdout } = await run(
    ACME,
    'access',
    '--tenant',
    'dev-team',
    '--cluster',
    'staging',
    'fleet',
    '-o',
    'json',
  )
  const { namespaces } = JSON.parse(stdout)
  expect(namespaces.map((one: { namespace: string }) => one.namespace)).toEqual(['apps'])
  expect(namespaces[0].clusters[0]).toMatchObject({ cluster: 'staging', tenant: 'dev-team' })
  expect(code).toBe(0)
})

test('can-i asks for each account of a tenant, and names it', async () => {
  const { code, stdout } = await run(
    ACME,
    'can-i',
    'create',
    'deploy',
    'fleet',
    '-n',
    'apps',
    '--tenant',
    'dev-team',
    '--cluster',
    'staging',
  )
  expect(stdout).toMatch(/^yes, on staging as system:serviceaccount:apps:dev-team: RoleBinding /)
  expect(code).toBe(0)
  const both = await run(ACME, 'can-i', 'get', 'pods', 'fleet', '--tenant', 'dev-team', '--as', 'apps/x')
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--as and --tenant exclude each other')])
})

test('can-i names the account and the namespace that were probably meant', async () => {
  const { stderr } = await run(ACME, 'can-i', 'get', 'pods', 'fleet', '-n', 'appz', '--as', 'apps/dev-taem')
  expect(stderr).toContain('note: namespace appz is not in the fleet. Did you mean apps?\n')
  expect(stderr).toContain('note: account apps/dev-taem is not in the fleet. Did you mean apps/dev-team?\n')
})

describe('who-can', () => {
  test('subjects with their bindings, and what is applied as them', async () => {
    const { code, stdout } = await run(
      ACME,
      'who-can',
      'create',
      'deploy',
      'fleet',
      '-n',
      'apps',
      '--cluster',
      'staging',
      ...CLONES,
    )
    expect(stdout).toMatch(/^create deploy in apps on staging\n/)
    expect(stdout).toMatch(/ServiceAccount apps\/dev-team +RoleBinding apps\//)
    expect(stdout).toMatch(/apps\/dev-team +github\.com\/acme\/dev-team +apps\/dev-team\n/)
    // its rights are in Flux's own manifests
    expect(stdout).toMatch(/flux-system\/tenants +github\.com\/acme\/fleet +flux-system\/kustomize-controller\n/)
    expect(stdout).toMatch(/only cluster staging; not listed: 1 other cluster\n$/)
    expect(code).toBe(0)
  })

  test.each([
    [['create'], 'RESOURCE[/NAME] is missing'],
    [['create', 'pods', 'fleet', '-n', 'aps'], 'no namespace "aps"; there are: '],
    [['create', 'podz', 'fleet'], 'neither Kubernetes nor the fleet has a resource "podz"'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await run(ACME, 'who-can', ...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

test.each([
  ['render', '--cluster', 'bailiwick build --cluster NAME renders what a cluster gets.'],
  ['explain', '--tenant', 'bailiwick check --tenant NAME lists the findings of a tenant.'],
])('%s %s names the command that has it', async (command, option, fix) => {
  const { code, stderr } = await run(ACME, command, option, 'x')
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${option} is not an option of ${command}.`)])
  expect(stderr).toContain(fix)
})
