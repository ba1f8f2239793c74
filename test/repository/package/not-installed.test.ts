import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const checkout = mkdtempSync(join(tmpdir(), 'bailiwick-not-installed-'))
beforeAll(() => {
  for (const path of ['package.json', 'app.yml', 'src', 'workers'])
    cpSync(join(ROOT, path), join(checkout, path), { recursive: true })
  writeFileSync(join(checkout, 'kustomization.yaml'), 'resources: []\n')
})
afterAll(() => rmSync(checkout, { recursive: true, force: true }))

test.each([
  ['src/index.js'],
  ['workers/index.js'],
  ['src/surface/setup/index.js'],
  ['src/surface/cli/bailiwick.js', 'render', '.'],
  ['src/surface/cli/bailiwick.js', 'doctor'],
])('a checkout without its packages: %s says the command that installs them, in one line', (...command) => {
  const { PATH = '' } = process.env
  const env = { PATH, HOME: checkout }
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: checkout, encoding: 'utf8', env })
  expect(stderr).toMatch(
    /^error\[config\]: the package [\w@/.-]+ is not installed\. Run `npm ci` in the checkout, or run the programs that `npm run build` writes to dist, which need no packages\.\n$/,
  )
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
})
