import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openOutbox } from '../../../src/receive/outbox.ts'
import { recordDecision } from '../../../workers/gate/record-decision.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'

const MINUTE = Date.parse('2026-01-01T00:00:00Z')
const PLACE = { installation: 1, owner: 'acme', repo: 'fleet' }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Decisions at these seconds; the second at which each has the trail written. */
async function dueAt(seconds: readonly number[], written?: number): Promise<number[]> {
  const outbox = openOutbox({ redisUrl: undefined }, silentLog)
  const due: number[] = []
  const add = async (_name: string, _data: object, { delayMs = 0 } = {}) => {
    due.push((Date.now() + delayMs - MINUTE) / 1000)
  }
  const context = { outbox, queue: { add }, config: { githubApiUrl: 'https://api.github.com' } }
  const head = { seq: 1, hash: 'a'.repeat(64), commit: 'b'.repeat(40) }
  if (written !== undefined)
    await outbox.written(PLACE, { count: 0, lost: 0, head: { ...head, at: MINUTE + written * 1000 } })
  for (const second of seconds) {
    vi.setSystemTime(MINUTE + second * 1000)
    const decision = { kind: 'hold', who: 'dora', repository: 'acme/fleet', result: 'done', revisions: [] } as const
    const full = { ...decision, id: `hold ${second}`, digest: 'c'.repeat(64) }
    await recordDecision(context as never, { installation: 1, url: 'https://github.com/acme/fleet' }, full)
  }
  return due
}

test('a stream of decisions does not put their commit off: those of ten seconds are written together', async () => {
  expect(await dueAt([1, 4, 9.9, 11, 18])).toEqual([10, 10, 10, 20, 20])
})

test('a commit within the last minute: the next one is for the whole minute', async () => {
  expect(await dueAt([61, 75, 119, 121], 60)).toEqual([120, 120, 120, 130])
})
