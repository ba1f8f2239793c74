import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from './run-main.ts'

const MODULE = pathToFileURL(join(import.meta.dirname, '../../../src/surface/cli/write-inside.ts')).href

test.each(['SIGINT', 'SIGTERM'])('%s between two files that belong together ends the process after both', signal => {
  const dir = scratch()
  const code = `
    const { writeAllInside } = await import(${JSON.stringify(MODULE)})
    const files = [{ path: 'a/one', content: '1' }, { path: 'two', content: '2' }, { path: 'gone', content: null }]
    Object.defineProperty(files[1], 'path', { get() { process.kill(process.pid, '${signal}'); return 'two' } })
    await writeAllInside(${JSON.stringify(dir)}, files)
    await new Promise(done => setTimeout(done, 10_000))
    console.log('still there')
  `
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  expect([ran.signal, ran.stdout, ran.stderr]).toEqual([signal, '', ''])
  expect(readdirSync(dir, { recursive: true }).sort()).toEqual(['a', 'a/one', 'two'])
  expect([readFileSync(join(dir, 'a/one'), 'utf8'), readFileSync(join(dir, 'two'), 'utf8')]).toEqual(['1', '2'])
})
