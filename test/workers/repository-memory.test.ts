import { expect, test } from 'vitest'
import { RepositoryMemory } from '../../workers/combination/repository-memory.ts'

const url = 'https://github.com/acme/fleet'
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

function counter() {
  let asked = 0
  return async () => ++asked
}

test('a repository that nobody pushed to is asked once', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  const pushedAt = ago(3600)
  expect(await memory.recall({ url, pushedAt }, 'head', ask)).toBe(1)
  expect(await memory.recall({ url, pushedAt }, 'head', ask)).toBe(1)
  expect(await memory.recall({ url, pushedAt }, 'another question', ask)).toBe(2)
  expect(await memory.recall({ url: `${url}-2`, pushedAt }, 'head', ask)).toBe(3)
})

test('a push makes it ask again', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  await memory.recall({ url, pushedAt: ago(3600) }, 'head', ask)
  expect(await memory.recall({ url, pushedAt: ago(1800) }, 'head', ask)).toBe(2)
})

test('what was pushed only just is not believed to stay: a second push may have the same time', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  const pushedAt = ago(1)
  await memory.recall({ url, pushedAt }, 'head', ask)
  expect(await memory.recall({ url, pushedAt }, 'head', ask)).toBe(2)
})

test('an empty repository, an unreadable time and a failure are never remembered', async () => {
  const memory = new RepositoryMemory()
  const ask = counter()
  for (const pushedAt of [null, 'yesterday']) {
    const before = await memory.recall({ url, pushedAt }, 'head', ask)
    expect(await memory.recall({ url, pushedAt }, 'head', ask)).toBe(before + 1)
  }
  const failing = () => Promise.reject(new Error('gone'))
  await expect(memory.recall({ url, pushedAt: ago(3600) }, 'head', failing)).rejects.toThrow('gone')
  expect(await memory.recall({ url, pushedAt: ago(3600) }, 'head', ask)).toBe(5)
})
