import { expect, test } from 'vitest'
import { COMMANDS } from '../../../src/surface/cli/commands.ts'
import { run, scratch } from './run-main.ts'

const NAMES = COMMANDS.map(([name]) => name)

test.each(
  NAMES.flatMap(name => [
    [name, '--nope'],
    [name, '-o', 'nonsense'],
    [name, 'a', 'b', 'c', 'd', 'e', 'f'],
  ]),
)('the usage of %s %s %s is one line of plain text', async (...args) => {
  const { code, stderr, stdout } = await run(scratch(), ...args)
  expect([code, stdout]).toEqual([2, ''])
  // a line break of the help that is shown as an escape, or a remedy that goes on behind a comma
  expect(stderr).not.toMatch(/\\u\{|, (?:Use|Add|Run|Name|Set|Write|Remove|Correct|Check|Give|Pass|Did) /)
  expect(stderr).toMatch(/^error\[[\w-]+\]: /)
})

test('render without arguments says what is missing, and how it is used', async () => {
  const { code, stderr } = await run(scratch(), 'render')
  expect(code).toBe(2)
  expect(stderr).toBe(
    'error[usage]: DIR is missing. usage: bailiwick render [DIR] [--root DIR] [-o yaml|json] [--origins] [--stdin]\n',
  )
})
