import { expect, test } from 'vitest'
import { kyvernoChecks, kyvernoTests } from './kyverno-checks.ts'

const SAMPLES = new URL('./samples/', import.meta.url).pathname

test.each(kyvernoTests(SAMPLES).map(file => [file.slice(SAMPLES.length).split('/')[0]!, file]))(
  '%s of kyverno/policies is answered as its own test says',
  (_name, file) => {
    const checks = kyvernoChecks(file)
    expect(checks.length).toBeGreaterThan(0)
    const different = checks.filter(({ expected, found }) => found !== expected)
    expect(different).toEqual([])
  },
)
