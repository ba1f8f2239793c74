import { expect, test } from 'vitest'
import { packTree } from '../../src/flux/pack-tree.ts'
import { treeOf } from '../git/tree-of.ts'

const names = (length: number) => Array.from({ length }, (_, index) => `${'a'.repeat(100)}${index}`)

function timed(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

test('a BOM is part of the first pattern', () => {
  const packed = packTree(treeOf({ '.sourceignore': '\ufeff*\n', 'a.yaml': 'x' }))
  expect(packed.list('').map(entry => entry.name)).toEqual(['.sourceignore', 'a.yaml'])
})

test('patterns that multiply with paths are refused, soon', () => {
  const files = Object.fromEntries(names(3_000).map(name => [`dir/${name}`, 'x']))
  const lines = Array.from({ length: 3_000 }, () => '*a*a*a*b').join('\n')
  const tree = treeOf({ ...files, '.sourceignore': lines })
  expect(timed(() => expect(() => packTree(tree)).toThrow('too much work'))).toBeLessThan(3_000)
})

test('more lines than anybody needs are refused', () => {
  expect(() => packTree(treeOf({ a: 'x' }), 'a\n'.repeat(5_001))).toThrow('5000 lines')
  expect(() => packTree(treeOf({ '.sourceignore': `${'a'.repeat(600_000)}\n` }))).toThrow('bytes')
  expect(() => packTree(treeOf({ a: 'x' }), 'a'.repeat(60_001))).toThrow('characters')
})
