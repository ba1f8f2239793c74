import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PROGRAM = join(ROOT, 'src/cli/bailiwick.js')
const ERASE = '\r\u001b[2K'

const hasScript = spawnSync('script', ['--version']).status === 0

test.skipIf(!hasScript)('a command runs on a terminal (no program script: skipped)', () => {
  const command = `${process.execPath} ${PROGRAM} can-i get pods test/fleets/acme/fleet -n apps --as apps/dev-team --cluster staging`
  const shown = execFileSync('script', ['-qec', command, '/dev/null'], { cwd: ROOT, encoding: 'utf8' })
  expect(shown.replaceAll(ERASE, '')).toMatch(/^yes, on staging: /)
})

test('the progress line is shown while the main thread is busy, and erased before output', () => {
  const code = `
    import { openProgressThread } from './src/cli/open-progress-thread.ts'
    const line = openProgressThread()
    line.stage('rendering')
    // as long as the thread needs to start on a busy machine; the main thread does not turn
    const end = Date.now() + 2500
    while (Date.now() < end);
    line.clear()
    process.stderr.write('output')
    const later = Date.now() + 1500
    while (Date.now() < later);
    line.end()
  `
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect(status).toBe(0)
  expect(stderr.startsWith(`${ERASE}rendering (`)).toBe(true)
  expect(stderr.endsWith(`${ERASE}output`)).toBe(true)
})
