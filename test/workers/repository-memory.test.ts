import { expect, test } from 'vitest'
import { RepositoryMemory } from '../../workers/fleets/worker-context.ts'

const fleet = { id: 1, url: 'https://github.com/acme/fleet', defaultBranch: 'main' }
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

function counter() {
  let asked = 0
  return async () => ++asked
}

test('a repository that nobody pushed to is asked once', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  const pushedAt = ago(3600)
  expect(await memory.recall({ ...fleet, pushedAt }, 'head', ask)).toBe(1)
  expect(await memory.recall({ ...fleet, pushedAt }, 'head', ask)).toBe(1)
  expect(await memory.recall({ ...fleet, pushedAt }, 'another question', ask)).toBe(2)
  expect(await memory.recall({ ...fleet, url: `${fleet.url}-2`, pushedAt }, 'head', ask)).toBe(3)
})

test('a push makes it ask again', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  await memory.recall({ ...fleet, pushedAt: ago(3600) }, 'head', ask)
  expect(await memory.recall({ ...fleet, pushedAt: ago(1800) }, 'head', ask)).toBe(2)
})

test('what was pushed only just is not believed to stay: a second push may have the same time', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  const pushedAt = ago(1)
  await memory.recall({ ...fleet, pushedAt }, 'head', ask)
  expect(await memory.recall({ ...fleet, pushedAt }, 'head', ask)).toBe(2)
})

test('an empty repository, an unreadable time and a failure are never remembered', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  for (const pushedAt of [null, 'yesterday']) {
    const before = await memory.recall({ ...fleet, pushedAt }, 'head', ask)
    expect(await memory.recall({ ...fleet, pushedAt }, 'head', ask)).toBe(before + 1)
  }
  const failing = () => Promise.reject(new Error('gone'))
  await expect(memory.recall({ ...fleet, pushedAt: ago(3600) }, 'head', failing)).rejects.toThrow('gone')
  expect(await memory.recall({ ...fleet, pushedAt: ago(3600) }, 'head', ask)).toBe(5)
})

test('a repository that was made anew, renamed, or has another default branch is another one', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  const pushedAt = ago(3600)
  await memory.recall({ ...fleet, pushedAt }, 'head', ask)
  expect(await memory.recall({ ...fleet, id: 2, pushedAt }, 'head', ask)).toBe(2)
  expect(await memory.recall({ ...fleet, url: 'https://github.com/acme/old', pushedAt }, 'head', ask)).toBe(3)
  expect(await memory.recall({ ...fleet, defaultBranch: 'dev', pushedAt }, 'head', ask)).toBe(4)
  expect(await memory.recall({ ...fleet, pushedAt }, 'head', ask)).toBe(1)
})
