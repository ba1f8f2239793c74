import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PROGRAM = join(ROOT, 'src/cli/bailiwick.js')
const MODULE = pathToFileURL(join(ROOT, 'src/cli/open-progress-thread.ts')).href
const ERASE = '\r\u001b[2K'

const hasScript = spawnSync('script', ['--version']).status === 0

test.skipIf(!hasScript)('a command runs on a terminal (no program script: skipped)', () => {
  const command = `${process.execPath} ${PROGRAM} can-i get pods test/fleets/acme/fleet -n apps --as apps/dev-team --cluster staging`
  const shown = execFileSync('script', ['-qec', command, '/dev/null'], { cwd: ROOT, encoding: 'utf8' })
  expect(shown.replaceAll(ERASE, '')).toMatch(/^yes, on staging: /)
})

test('the progress line is shown while the main thread is busy, and erased before output', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'bailiwick-progress-')), 'stderr')
  const code = `
    const { statSync } = await import('node:fs')
    const { openProgressThread } = await import(${JSON.stringify(MODULE)})
    const line = openProgressThread()
    line.stage('rendering')
    // the main thread does not turn until the line is there
    const end = Date.now() + 20_000
    while (Date.now() < end && statSync(${JSON.stringify(path)}).size === 0);
    line.clear()
    process.stderr.write('output')
    const later = Date.now() + 1500
    while (Date.now() < later);
    line.end()
  `
  const file = openSync(path, 'w')
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', file],
  })
  closeSync(file)
  expect(status).toBe(0)
  const shown = readFileSync(path, 'utf8')
  expect(shown.startsWith(`${ERASE}rendering (`)).toBe(true)
  expect(shown.endsWith(`${ERASE}output`)).toBe(true)
  rmSync(dirname(path), { recursive: true })
}, 30_000)
