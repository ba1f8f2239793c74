import { expect, test } from 'vitest'
import { configMap } from '../../fleet/clusters/sync-text.ts'
import { run, scratch, write } from './run-main.ts'

const folder = () => write(scratch(), { 'manifests/a.yaml': configMap('a'), 'other/b.yaml': configMap('b') })

test('a folder that says nothing of itself is a cluster where the command line names it', async () => {
  const dir = folder()
  expect((await run('/', 'check', dir, '--url', 'https://github.com/acme/fleet')).code).toBe(2)
  const roots = ['--cluster-root', 'prod=./manifests', '--cluster-root', 'edge=other']
  const checked = await run('/', 'check', dir, '--url', 'https://github.com/acme/fleet', ...roots, '-o', 'json')
  expect([checked.code, JSON.parse(checked.stdout).clusters]).toEqual([
    0,
    [
      { name: 'edge', path: 'other', how: 'declared' },
      { name: 'prod', path: 'manifests', how: 'declared' },
    ],
  ])
  const built = await run('/', 'build', dir, '--cluster', 'prod', ...roots)
  expect([built.code, built.stdout.includes('name: a'), built.stdout.includes('name: b')]).toEqual([0, true, false])
})

test.each(['prod', '=manifests', 'a/b=manifests', 'prod=../x'])('--cluster-root %s is refused', async text => {
  const refused = await run('/', 'check', folder(), '--cluster-root', text)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is not NAME=PATH')])
})
