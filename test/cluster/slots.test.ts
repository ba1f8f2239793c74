import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Slots } from '../../src/cluster/slots.ts'

/** Work that ends when it is told to. */
function stage(slots: Slots) {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const start = (number: number) =>
    slots.run(async () => {
      begun.push(number)
      await new Promise<void>(resolve => {
        ends[number] = resolve
      })
    })
  const end = async (number: number) => {
    ends[number]!()
    await sleep(0)
  }
  return { begun, start, end }
}

const open = (count: number, slowMs = 60_000, slow = 0) => new Slots({ count, slowMs, slow })

test('so many at once, first come, first served', async () => {
  const { begun, start, end } = stage(open(2))
  const all = [0, 1, 2, 3].map(start)
  await sleep(0)
  expect(begun).toEqual([0, 1])
  await end(1)
  expect(begun).toEqual([0, 1, 2])
  for (const number of [0, 2, 3]) await end(number)
  await Promise.all(all)
  expect(begun).toEqual([0, 1, 2, 3])
})

test('what fails gives its place back', async () => {
  const slots = open(1)
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await slots.run(async () => 'yes')).toBe('yes')
})

test('who is slow is not counted, but so many only, and gives back nothing twice', async () => {
  const { begun, start, end } = stage(open(1, 1, 1))
  const all = [0, 1, 2].map(start)
  while (begun.length < 2) await sleep(1)
  await sleep(20)
  expect(begun).toEqual([0, 1])
  await end(0)
  expect(begun).toEqual([0, 1])
  await end(1)
  expect(begun).toEqual([0, 1, 2])
  await end(2)
  await Promise.all(all)
})

test('half as much after a refusal, one at least; all of it again after enough successes', async () => {
  const slots = open(4)
  slots.halve()
  expect(slots.limit).toBe(2)
  for (let time = 0; time < 5; time++) slots.halve()
  expect(slots.limit).toBe(1)
  const limits = Array.from({ length: 8 }, () => {
    slots.recover()
    return slots.limit
  })
  expect(limits).toEqual([2, 2, 3, 3, 3, 4, 4, 4])
})
