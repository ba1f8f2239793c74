import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fleetFiles } from '../fleets/read-fleet.ts'
import { git, repository, run, scratch } from './run-main.ts'

const fleet = () => repository(scratch(), fleetFiles('acme/fleet'), 'https://github.com/acme/fleet')

test('a tenant leaves in two runs, and a third has nothing to do', async () => {
  const dir = fleet()
  const first = await run('/', 'offboard', 'dev-team', dir)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout).toContain('deleted tenants/staging/dev-team-patch.yaml')
  expect(first.stdout).toContain('staging/apps/dev-team deletes what it applied')
  expect(first.stdout).toContain('wait until the Kustomizations of dev-team are gone on every cluster')
  expect(readFileSync(join(dir, 'tenants/base/dev-team/rbac.yaml'), 'utf8')).toContain('ServiceAccount')
  git(dir, 'add', '--all')
  git(dir, 'commit', '--quiet', '-m', 'first change')
  const second = await run(dir, 'offboard', 'dev-team')
  expect(second.stdout).toContain('removes on production: Namespace apps')
  expect(existsSync(join(dir, 'tenants/base'))).toBe(false)
  expect((await run(dir, 'offboard', 'dev-team')).stdout).toBe(
    'nothing to do: the fleet has nothing of tenant dev-team there\n',
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
