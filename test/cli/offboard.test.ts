import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fleetFiles } from '../fleets/read-fleet.ts'
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
  expect(first.stdout).toContain('check blocks this change by mass-deletion')
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

test('a tenant that the fleet does not have is an error, with the one that was meant', async () => {
  for (const command of [['offboard'], ['move', '--to', 'production'], ['rename', '--to', 'other']]) {
    const ran = await run(fleet(), ...command, 'dev-taem')
    expect([ran.code, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toBe(
      'error[offboard-input]: tenant "dev-taem" is not in the fleet. Tenants: dev-team. Did you mean dev-team?\n',
    )
  }
})

test('a tenant that runs on both clusters leaves the old one in the next run of a move', async () => {
  const ran = await run(fleet(), 'move', 'dev-team', '--to', 'production')
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toContain('removes on staging: Kustomization apps/dev-team')
  expect(ran.stdout).not.toContain('removes on production')
})

test('what a move would change besides is named', async () => {
  const dir = fleet()
  for (let change = 0; change < 2; change++) {
    await run(dir, 'offboard', 'dev-team', '--cluster', 'production')
    commit(dir)
  }
  const quota =
    'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: quota, namespace: apps}\nspec: {hard: {pods: "1"}}\n'
  writeFileSync(join(dir, 'clusters/production/quota.yaml'), quota)
  writeFileSync(join(dir, 'clusters/staging/quota.yaml'), quota)
  const ran = await run(dir, 'move', 'dev-team', '--to', 'production')
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toContain('ResourceQuota apps/quota')
})

test.each([
  ['no cluster', ['move', 'dev-team'], '--to is missing'],
  ['two clusters', ['move', 'dev-team', '--to', 'staging', '--to', 'production'], 'from one cluster to one'],
  ['an unknown cluster', ['move', 'dev-team', '--to', 'nowhere'], 'this fleet has no cluster nowhere'],
  [
    'the cluster that it is on',
    ['move', 'dev-team', '--to', 'staging', '--from=staging'],
    '--from and --to are both staging',
  ],
])('a move with %s is refused', async (_name, args, reason) => {
  const ran = await run(fleet(), ...args)
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toContain(
    `error[offboard-input]: ${reason.startsWith('from') ? `a tenant moves ${reason}` : reason}`,
  )
})

test.each([
  ['no name', ['offboard'], 'offboard-input'],
  ['a second directory', ['offboard', 'dev-team', '.', 'x'], 'offboard-input'],
  ['an option of the comment', ['offboard', 'dev-team', '--continue'], 'offboard-input'],
  ['an unknown cluster', ['offboard', 'dev-team', '--cluster', 'nowhere'], 'offboard-input'],
  ['a name that is none', ['offboard', '../x'], 'offboard-input'],
])('%s is refused', async (_name, args, code) => {
  const ran = await run(fleet(), ...args)
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toMatch(new RegExp(`^error\\[${code}\\]: [^\\n]+\\n$`))
})

test('a tenant gets another name in three runs, and a fourth has nothing to do', async () => {
  const dir = fleet()
  const stages = [
    ['adds on staging: GitRepository apps/web', 'until every cluster has applied it'],
    ['changes on staging: Namespace apps', 'until every cluster has applied it'],
    ['removes on staging: GitRepository apps/dev-team', 'nothing is left to do then'],
  ]
  for (const lines of stages) {
    const ran = await run(dir, 'rename', 'dev-team', '--to', 'web')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    for (const line of lines) expect(ran.stdout).toContain(line)
    commit(dir)
  }
  expect((await run(dir, 'rename', 'dev-team', '--to', 'web')).stdout).toBe(
    'nothing to do: the fleet has nothing left to change\n',
  )
})

test.each([
  ['a rename without a name', ['rename', 'dev-team'], '--to is missing'],
  ['a rename to the same name', ['rename', 'dev-team', '--to', 'dev-team'], 'tenant dev-team has that name already'],
  ['a name that no account can have', ['rename', 'dev-team', '--to', 'Web_1'], 'is not a valid name of a tenant'],
  ['a hand-over without a namespace', ['hand-over', '--to', 'web'], 'the name of the namespace is missing'],
  ['a hand-over to a tenant that is not there', ['hand-over', 'apps', '--to', 'web'], 'tenant web is not on'],
])('%s is refused', async (_name, args, reason) => {
  const ran = await run(fleet(), ...args)
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toContain('error[offboard-input]: ')
  expect(ran.stderr).toContain(reason)
})
