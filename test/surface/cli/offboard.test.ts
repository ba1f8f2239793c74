import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { git, repository, run, scratch } from './run-main.ts'

const fleet = () => repository(scratch(), fleetFiles('acme/fleet'), 'https://github.com/acme/fleet')

function commit(dir: string): void {
  git(dir, 'add', '--all')
  git(dir, 'commit', '--quiet', '-m', 'change')
}

test('the second change is not written before the first one is merged', async () => {
  const dir = fleet()
  git(dir, 'switch', '--quiet', '-c', 'offboard')
  await run(dir, 'offboard', 'dev-team')
  const before = git(dir, 'status', '--porcelain')
  const refused = await run(dir, 'offboard', 'dev-team')
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  expect(refused.stderr).toBe(
    'error[offboard-input]: the change before this one is not on branch main, so nothing was written. Merge it, wait until the Kustomizations of dev-team are gone on every cluster, then run the command again.\n',
  )
  expect(git(dir, 'status', '--porcelain')).toBe(before)
  commit(dir)
  expect((await run(dir, 'offboard', 'dev-team')).code).toBe(2)
  git(dir, 'switch', '--quiet', 'main')
  git(dir, 'merge', '--quiet', 'offboard')
  expect((await run(dir, 'offboard', 'dev-team')).stdout).toContain('removes on production: Namespace apps')
})

test('a tenant leaves in two runs, and a third finds none', async () => {
  const dir = fleet()
  const first = await run('/', 'offboard', 'dev-team', dir)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout).toContain('deleted tenants/staging/dev-team-patch.yaml')
  expect(first.stdout).toContain('staging/apps/dev-team deletes what it applied')
  expect(first.stdout).toContain('check blocks this change (mass-deletion)')
  expect(first.stdout).toContain('wait until the Kustomizations of dev-team are gone on every cluster')
  expect(readFileSync(join(dir, 'tenants/base/dev-team/rbac.yaml'), 'utf8')).toContain('ServiceAccount')
  commit(dir)
  const second = await run(dir, 'offboard', 'dev-team')
  expect(second.stdout).toContain('removes on production: Namespace apps')
  expect(existsSync(join(dir, 'tenants/base'))).toBe(false)
  const third = await run(dir, 'offboard', 'dev-team')
  expect([third.code, third.stdout]).toEqual([2, ''])
  expect(third.stderr).toContain('tenant "dev-team" is not in the fleet')
})

test('a named fleet admin has check accept what is removed, and the second change replaces the waivers of the first', async () => {
  const dir = fleet()
  const waived = () => readFileSync(join(dir, '.github/bailiwick.yaml'), 'utf8').match(/kind: \S+/g)
  const check = () => run(dir, 'check', '--base', 'HEAD')
  const agreed = ['--approver', 'ops-lead', '--requester', 'dora']
  const first = await run(dir, 'offboard', 'dev-team', ...agreed)
  expect(first.stdout).toContain('waived mass-deletion in .github/bailiwick.yaml')
  expect(new Set(waived())).toEqual(new Set(['kind: kustomize.toolkit.fluxcd.io/Kustomization']))
  const checked = await check()
  expect([checked.code, checked.stderr]).toEqual([0, ''])
  expect(checked.stdout).toContain('required approval[gate-config-change]')
  expect((await run(dir, 'check', '--base', 'HEAD', '--fail-on-required-approval')).code).toBe(1)
  commit(dir)
  await run(dir, 'offboard', 'dev-team', ...agreed)
  expect(new Set(waived())).toEqual(new Set(['kind: Namespace']))
  expect((await check()).code).toBe(0)
})

test('a tenant that the fleet does not have is an error, with the one that was meant', async () => {
  const ran = await run(fleet(), 'offboard', 'dev-taem')
  expect([ran.code, ran.stdout]).toEqual([2, ''])
  expect(ran.stderr).toBe(
    'error[offboard-input]: tenant "dev-taem" is not in the fleet. Tenants: dev-team. Did you mean dev-team?\n',
  )
})

test.each([
  ['no name', ['offboard'], 'usage'],
  ['a second directory', ['offboard', 'dev-team', '.', 'x'], 'usage'],
  ['an option of the comment', ['offboard', 'dev-team', '--continue'], 'usage'],
  ['an unknown cluster', ['offboard', 'dev-team', '--cluster', 'nowhere'], 'offboard-input'],
  ['a name that is none', ['offboard', '../x'], 'offboard-input'],
])('%s is refused', async (_name, args, code) => {
  const ran = await run(fleet(), ...args)
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toMatch(new RegExp(`^error\\[${code}\\]: [^\\n]+\\n$`))
})
