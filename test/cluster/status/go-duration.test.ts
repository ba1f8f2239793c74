import { expect, test } from 'vitest'
import { goDuration } from '../../../src/cluster/status/kustomization-status.ts'

// what Go's time.Duration.String gives for the same
test.for([
  [0, '0s'],
  [1, '1ms'],
  [1.5, '1.5ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [1_234, '1.234s'],
  [30_000, '30s'],
  [90_000, '1m30s'],
  [570_000, '9m30s'],
  [3_600_000, '1h0m0s'],
  [3_570_000, '59m30s'],
  [90_061_500, '25h1m1.5s'],
] as const)('%i ms is %s', ([milliseconds, text]) => expect(goDuration(milliseconds)).toBe(text))
