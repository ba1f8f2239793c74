import { expect, test } from 'vitest'
import { run, scratch } from './run-main.ts'

test.each([['replay', 2]])(
  'bailiwick %s was removed: one warning, which says what to do instead',
  async (name, exit) => {
    const { code, stdout, stderr } = await run(scratch(), name, 'x', '--some', 'option')
    expect([code, stdout]).toEqual([exit, ''])
    expect(stderr).toMatch(/^warning: bailiwick [a-z-]+: removed\. [^\n]+\n$/)
  },
)
