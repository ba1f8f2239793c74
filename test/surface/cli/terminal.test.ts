import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const PROGRAM = join(ROOT, 'src/surface/cli/bailiwick.js')
const ERASE = '\r\u001b[2K'

const hasScript = spawnSync('script', ['--version']).status === 0

test.skipIf(!hasScript)('a command runs on a terminal (no program script: skipped)', () => {
  const command = `${process.execPath} ${PROGRAM} can-i get pods test/fleet/fleets/acme/fleet -n apps --as apps/dev-team --cluster staging`
  const shown = execFileSync('script', ['-qec', command, '/dev/null'], { cwd: ROOT, encoding: 'utf8' })
  expect(shown.replaceAll(ERASE, '')).toMatch(/^yes, on staging: /)
})
