import { expect, test } from 'vitest'
import { type RevisionOutcome, RevisionQueue } from '../../workers/apply/status-board.ts'

/** A queue whose pauses end when they are told to. */
function open() {
  const written: string[] = []
  const outcomes: RevisionOutcome[] = []
  const pauses: (() => void)[] = []
  const queue = new RevisionQueue({
    perSecond: 4,
    onOutcome: outcome => outcomes.push(outcome),
    pause: ms => new Promise<void>(resolve => pauses.push(() => resolve(expect(ms).toBe(250)))),
  })
  const put = (key: string, revision: string, write?: () => Promise<void>) => {
    const note = async () => void written.push(`${key} ${revision}`)
    queue.put(key, { revision, write: write ?? note })
  }
  const settle = () => new Promise(resolve => setImmediate(resolve))
  const tick = async () => {
    await settle()
    for (const end of pauses.splice(0)) end()
    await settle()
  }
  return { queue, put, tick, settle, written, outcomes }
}

test('nothing is written before the run is over, then one with each pause', async () => {
  const { queue, put, tick, settle, written } = open()
  for (const key of ['a', 'b', 'c']) put(key, '1')
  await tick()
  expect(written).toEqual([])
  queue.start()
  await settle()
  expect(written).toEqual(['a 1'])
  await tick()
  expect(written).toEqual(['a 1', 'b 1'])
  expect(queue.size).toBe(1)
  await tick()
  await tick()
  await queue.idle()
  expect(written).toEqual(['a 1', 'b 1', 'c 1'])
})

test('of pushes that follow each other only the newest revision is written, in the place of the first', async () => {
  const { queue, put, tick, written, outcomes } = open()
  for (const key of ['a', 'b', 'c']) put(key, '1')
  queue.start()
  await tick()
  for (const key of ['a', 'c', 'b']) put(key, '2')
  put('c', '3')
  queue.start()
  for (let round = 0; round < 4; round++) await tick()
  await queue.idle()
  expect(written).toEqual(['a 1', 'b 1', 'c 3', 'a 2', 'b 2'])
  expect(outcomes.filter(outcome => outcome === 'coalesced')).toHaveLength(2)
  expect(queue.size).toBe(0)
})

test('what is shown otherwise, and what is gone, is forgotten', async () => {
  const { queue, put, tick, written } = open()
  for (const key of ['a', 'b', 'c', 'd']) put(key, '1')
  await queue.drop('a')
  queue.keep(new Set(['a', 'c', 'd']))
  await queue.flush('d')
  expect(written).toEqual(['d 1'])
  queue.start()
  await tick()
  await queue.idle()
  expect(written).toEqual(['d 1', 'c 1'])
})

test('whoever shows a node waits for what is being written of it', async () => {
  const { queue, put, settle } = open()
  const write = Promise.withResolvers<void>()
  put('a', '1', () => write.promise)
  queue.start()
  let isDropped = false
  const dropped = queue.drop('a').then(() => {
    isDropped = true
  })
  await settle()
  expect(isDropped).toBe(false)
  write.resolve()
  await dropped
})

test('the revision that is being written is not written again', async () => {
  const { queue, put, tick, written } = open()
  const write = Promise.withResolvers<void>()
  put('a', '1', () => write.promise)
  queue.start()
  put('a', '1')
  queue.start()
  write.resolve()
  await tick()
  await queue.idle()
  expect(written).toEqual([])
})

test('at most four are written at once, and what hangs holds up no more than its own place', async () => {
  const { queue, put, tick } = open()
  const write = Promise.withResolvers<void>()
  let begun = 0
  for (let index = 0; index < 6; index++) {
    put(String(index), '1', async () => {
      begun++
      await write.promise
    })
  }
  queue.start()
  for (let round = 0; round < 8; round++) await tick()
  expect(begun).toBe(4)
  write.resolve()
  for (let round = 0; round < 4; round++) await tick()
  await queue.idle()
  expect(begun).toBe(6)
})

test('what was not written is told once, and after the end nothing is written', async () => {
  const { queue, put, tick, written, outcomes } = open()
  put('a', '1', () => Promise.reject(new Error('refused')))
  queue.start()
  await tick()
  await queue.idle()
  expect(outcomes).toEqual(['failed'])
  expect([...queue.takeProblems()]).toEqual([['a', 'refused']])
  expect([...queue.takeProblems()]).toEqual([])
  put('b', '1')
  await queue.close()
  queue.start()
  await tick()
  expect(written).toEqual([])
})
