import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HOSTILE } from './hostile-inputs.ts'

const PROGRAM = join(import.meta.dirname, 'hostile-build.ts')

/**
 * Garbage that nobody had the time to collect is not counted: a heap that is full is cleaned first, by no thread that comes late
 * on a busy machine. What needs a larger one ends with a message.
 */
const FLAGS = ['--single-threaded-gc', '--max-old-space-size=192', '--max-semi-space-size=8']

interface Outcome {
  readonly code: string
  readonly mebibytes: number
  readonly before: number
}

describe('input that should bring a renderer down is answered with a code, in little memory', () => {
  for (const [name, { code }] of Object.entries(HOSTILE)) {
    test(name, { timeout: 60_000 }, () => {
      const run = spawnSync(process.execPath, [...FLAGS, PROGRAM, name], { encoding: 'utf8', timeout: 50_000 })
      expect(run.stderr).toBe('')
      const outcome = JSON.parse(run.stdout) as Outcome
      expect(outcome.code).toBe(code)
      expect(outcome.mebibytes - outcome.before).toBeLessThan(256)
    })
  }
})
