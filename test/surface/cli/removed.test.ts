import { expect, test } from 'vitest'
import { run, scratch } from './run-main.ts'

test.each([
  ['replay', 2],
  ['policy', 2],
  ['credentials', 0],
  ['completion', 0],
  ['move', 0],
  ['rename', 0],
  ['hand-over', 0],
])('bailiwick %s was removed: one warning, which says what to do instead', async (name, exit) => {
  const { code, stdout, stderr } = await run(scratch(), name, 'x', '--some', 'option')
  expect([code, stdout]).toEqual([exit, ''])
  expect(stderr).toMatch(/^warning: bailiwick [a-z-]+: removed\. [^\n]+\n$/)
})

test('sops updatekeys is the one of SOPS', async () => {
  const { code, stdout, stderr } = await run(scratch(), 'sops', 'updatekeys')
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toBe(
    'warning: bailiwick sops updatekeys: removed. Nothing was encrypted. Run `sops updatekeys` of SOPS on each file.\n',
  )
})

test.each([['-o', 'junit'], ['-ojunit'], ['--output', 'junit'], ['--output=junit']])(
  'a removed format is one warning, and the command prints text: %s %s',
  async (...format) => {
    const { code, stdout, stderr } = await run(scratch(), 'explain', 'sa-required', ...format)
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: -o junit: removed\. [^\n]+\n$/)])
    expect(stdout).toContain('sa-required')
  },
)
