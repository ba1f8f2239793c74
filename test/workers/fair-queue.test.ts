import { expect, test } from 'vitest'
import { FairQueue } from '../../workers/fleets/evaluator.ts'

/** A queue whose work ends when it is told to, and the order in which it began. */
function started(places: number) {
  const queue = new FairQueue(Array.from({ length: places }, (_, i) => i))
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const settled = () => new Promise(resolve => setImmediate(resolve))
  const add = async (name: string, owner: string, isAlone = false) => {
    void queue.run({ owner, home: owner, isAlone }, () => {
      began.push(name)
      return new Promise<void>(resolve => ends.set(name, resolve))
    })
    await settled()
  }
  const end = async (name: string) => {
    ends.get(name)!()
    await settled()
  }
  return { began, add, end }
}

test('one repository never has all threads, and those that wait take turns', async () => {
  const { began, add, end } = started(2)
  for (const name of ['a1', 'a2', 'a3']) await add(name, 'a')
  expect(began).toEqual(['a1'])
  await add('b1', 'b')
  expect(began).toEqual(['a1', 'b1'])
  await add('c1', 'c')
  await end('a1')
  expect(began).toEqual(['a1', 'b1', 'c1'])
  await end('b1')
  expect(began).toEqual(['a1', 'b1', 'c1', 'a2'])
})

test('with one thread the repository that waited longest is next', async () => {
  const { began, add, end } = started(1)
  for (const name of ['a1', 'a2', 'a3']) await add(name, 'a')
  await add('b1', 'b')
  await end('a1')
  await end('b1')
  expect(began).toEqual(['a1', 'b1', 'a2'])
})

test('what begins alone waits until nothing runs, but not for ever', async () => {
  const { began, add, end } = started(2)
  await add('a1', 'a')
  await add('slow', 's', true)
  await add('b0', 'b')
  expect(began).toEqual(['a1', 'b0'])
  for (let i = 0; i < 60; i++) {
    await add(`b${i + 1}`, 'b')
    await end(`b${i}`)
    if (!began.includes(`b${i + 1}`)) break
  }
  expect(began.length).toBeLessThan(60)
  await end('a1')
  expect(began.slice(-2)).toEqual(['slow', 'b50'])
})
