import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/schema/custom/custom-walk.ts'

test.each(['60m', '1h30m', '-1.5h', '.5s', '0', '100µs'])('the duration %s is one', text => {
  expect(formatProblem(text, 'duration', [])).toBeUndefined()
})

// the API server also takes words, and refuses what is longer than 292 years: neither is decided here
test.each(['3 days', '', 'h', '9999999h', '999999h999999h999h', '1h '])(
  'whether %j is a duration is not decided',
  text => {
    expect(formatProblem(text, 'duration', [])).toBe('unsure')
  },
)
