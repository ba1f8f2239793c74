import { expect, test } from 'vitest'
import { readDesignationFile } from '../../../src/github/designate.ts'
import { BASELINE_FILE, readBaseline } from '../../../src/rules/model/baseline.ts'

const print = 'a'.repeat(32)
const repository = 'https://github.com/acme/fleet'
const baseline = (text: string) => readBaseline({ repository, path: BASELINE_FILE }, Buffer.from(text))
const designation = (text: string) => readDesignationFile(repository, Buffer.from(text))

// each file that a user writes, with a key that is misspelled, its line, and the key that was meant
test.each([
  ['a baseline', baseline, 'violation: []\n', 'violation', 1, 'violations'],
  [
    'an item of a baseline',
    baseline,
    `violations:\n- fingerprint: ${print}\n  reson: b\n`,
    'violations.reson',
    3,
    'reason',
  ],
  ['an error of a baseline', baseline, `errors:\n- fingerprint: ${print}\n  hide: []\n`, 'errors.hide', 3, 'hides'],
  ['a list of fleets', designation, 'fleet: [acme/fleet]\n', 'fleet', 1, 'fleets'],
  ['a fleet of it', designation, 'fleets:\n- repository: acme/fleet\n  brnch: main\n', 'fleets[0].brnch', 3, 'branch'],
] as const)('an unknown key of %s is an error at its line', (_what, read, text, key, line, meant) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({
      code: 'config',
      message: expect.stringContaining(`"${key}" is an unknown key. Allowed: `),
      origin: expect.objectContaining({ line, repository }),
      fix: `Did you mean ${meant}?`,
    }),
  )
})

test('a key that resembles none is an error with the allowed ones', () => {
  expect(() => baseline('whatever: 1\n')).toThrow(
    expect.objectContaining({ fix: 'Remove it, or write one of the allowed keys.' }),
  )
})
