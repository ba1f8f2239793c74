import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NEWEST } from '../../../src/schema/types-table.ts'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles } from '../../fleet/mini-fleet.ts'
import { run, scratch, write } from './run-main.ts'

const WRONG =
  'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: apps\nspec:\n  selector: {app: web}\n  port: [{port: 80}]\n  type: clusterip\n'

function fleetWith(extra: string, config = ''): { dir: string; args: string[] } {
  const dir = scratch()
  const kustomization = devFiles['deploy/kustomization.yaml'] ?? 'resources: []\n'
  write(dir, {
    ...Object.fromEntries(Object.entries(fleetFiles).map(([path, text]) => [`fleet/${path}`, text])),
    ...Object.fromEntries(Object.entries(devFiles).map(([path, text]) => [`dev/${path}`, text])),
    'dev/deploy/kustomization.yaml': kustomization.replace('resources:', 'resources:\n  - extra.yaml'),
    'dev/deploy/extra.yaml': extra,
    ...(config === '' ? {} : { 'fleet/.github/bailiwick.yaml': config }),
  })
  return { dir, args: ['fleet', '--url', FLEET_URL, '--repo', `${DEV_URL}=${join(dir, 'dev')}`] }
}

/** Refused by a policy of tenancy too, which is left out. */
const FOREIGN = WRONG.replace('namespace: apps', 'namespace: ops')

test('only what schemas refuse is listed and decides', async () => {
  const { dir, args } = fleetWith(FOREIGN, `kubernetes: [{version: "1.${NEWEST}"}]\n`)
  const rulesOf = async (...more: string[]) => {
    const { code, stdout } = await run(dir, 'check', ...args, ...more, '-o', 'json')
    const { violations, warnings } = JSON.parse(stdout) as Record<string, { rule: string }[]>
    return { code, rules: new Set([...violations!, ...warnings!].map(({ rule }) => rule)) }
  }
  const all = await rulesOf()
  expect([all.code, all.rules.has('namespace-confinement')]).toEqual([1, true])
  expect(await rulesOf('--only', 'schemas')).toEqual({ code: 1, rules: new Set(['schema-mismatch']) })
})

test('what schemas accept passes, whatever other rules find', async () => {
  const { dir, args } = fleetWith(
    FOREIGN.replace('clusterip', 'ClusterIP').replace('  port: [{port: 80}]\n', '  ports: [{port: 80}]\n'),
  )
  expect((await run(dir, 'check', ...args)).code).toBe(1)
  expect((await run(dir, 'check', ...args, '--only', 'schemas')).code).toBe(0)
})

test('a Kustomization that does not build is an error, whatever else is valid', async () => {
  const { dir, args } = fleetWith('kind: [\n')
  const { code, stdout } = await run(dir, 'check', ...args, '--only', 'schemas')
  expect([code, stdout]).toEqual([2, expect.stringMatching(/: error\[/)])
})

test('another part is refused, and the command that did this names the option', async () => {
  const { dir, args } = fleetWith(WRONG)
  const other = await run(dir, 'check', ...args, '--only', 'policies')
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('Allowed: schemas')])
  const removed = await run(dir, 'validate', ...args)
  expect(removed).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('check --only schemas') })
})
