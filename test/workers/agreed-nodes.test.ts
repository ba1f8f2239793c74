import { expect, test } from 'vitest'
import { agreedNodes } from '../../workers/apply/apply-work.ts'

const node = (key: string, applyDigest = 'same', parent: string | null = null) => ({
  ...{ key, applyDigest, parent, digest: 'evaluated', dependsOn: [] },
})
type Node = ReturnType<typeof node>

const own = (apply: Node[], more: object = {}) => ({ nodes: apply, apply, held: [], open: [], ...more }) as never
const work = (apply: Record<string, string>, more: object = {}) => {
  const offered = Object.entries(apply).map(([key, digest]) => ({ key, digest }))
  return { nodes: Object.keys(apply), apply: offered, held: [], waiting: [], engine: '7', ...more } as never
}
const keys = ({ apply }: ReturnType<typeof agreedNodes>) => apply.map(({ key }) => key)

test('what both sides approve in the same words is applied', () => {
  const agreed = agreedNodes(
    own([node('s/a/root'), node('s/a/child', 'same', 's/a/root')]),
    work({ 's/a/root': 'same', 's/a/child': 'same' }),
  )
  expect(keys(agreed)).toEqual(['s/a/root', 's/a/child'])
  expect(agreed.held).toEqual([])
})

test('other content is held, and with it what it is the parent of; the others are applied', () => {
  const mine = [node('s/a/root', 'mine'), node('s/a/child', 'same', 's/a/root'), node('s/b/other')]
  const agreed = agreedNodes(own(mine), work({ 's/a/root': 'theirs', 's/a/child': 'same', 's/b/other': 'same' }))
  expect(keys(agreed)).toEqual(['s/b/other'])
  expect(agreed.held).toEqual([
    { node: 's/a/root', reason: expect.stringContaining('approved other content (its engine is 7') },
    { node: 's/a/child', reason: 'its parent s/a/root is held' },
  ])
})

test('what the web process holds, or does not know, is held with its reason', () => {
  const held = [{ key: 's/a/held', reason: 'a violation' }]
  const agreed = agreedNodes(own([node('s/a/held'), node('s/a/new')]), work({}, { held }))
  expect(agreed.held).toEqual([
    { node: 's/a/held', reason: 'a violation' },
    { node: 's/a/new', reason: 'the web process did not evaluate it' },
  ])
  expect(keys(agreed)).toEqual([])
})

test('what waits for values is opened only where both sides evaluated the same', () => {
  const both = node('s/a/values')
  const mine = own([], {
    nodes: [both],
    held: [{ node: both.key, reason: 'waits', by: 'values' }],
    open: [both],
  })
  const same = work({}, { nodes: [both.key], waiting: [{ key: both.key, digest: 'evaluated' }] })
  expect(agreedNodes(mine, same)).toMatchObject({ open: [{ key: both.key }], held: [{ by: 'values' }] })
  for (const waiting of [[], [{ key: both.key, digest: 'another' }]]) {
    const agreed = agreedNodes(mine, work({}, { nodes: [both.key], waiting }))
    expect(agreed).toMatchObject({ open: [], held: [{ node: both.key, reason: 'waits' }] })
    expect(agreed.held[0]).not.toHaveProperty('by')
  }
})

test('a worker that sees less than was evaluated applies nothing: it would prune the rest', () => {
  expect(() => agreedNodes(own([node('s/a/one')]), work({ 's/a/one': 'same', 's/a/unseen': 'same' }))).toThrow(
    's/a/unseen was evaluated by the web process, and is not visible here',
  )
})
