import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { run } from '../../surface/cli/run-main.ts'
import { tenantOnBranch, world } from '../../surface/cli/situation.ts'

const root = join(import.meta.dirname, '../../..')

test('the hook of pre-commit runs a command that is there, and refuses a violation that is not committed yet', async () => {
  const [hook, ...others] = parse(readFileSync(join(root, '.pre-commit-hooks.yaml'), 'utf8'))
  expect(others).toEqual([])
  expect(hook).toMatchObject({ id: 'bailiwick', language: 'node', pass_filenames: false })
  const [program, ...args] = hook.entry.split(' ')
  expect(Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).bin)).toContain(program)
  expect((await run(world().fleet, ...args)).code).toBe(0)
  const tenant = tenantOnBranch()
  const blocked = await run(
    tenant,
    ...args.filter((arg: string) => arg !== 'HEAD' && arg !== '--base'),
    '--base',
    'main',
    '--fleet',
    '../fleet',
  )
  expect(blocked.code).toBe(1)
})
