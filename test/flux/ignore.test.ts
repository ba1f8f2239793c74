import { expect, test } from 'vitest'
import { packTree } from '../../src/flux/artifact.ts'
import { PackBudget } from '../../src/flux/source-ignore.ts'
import { treeOf } from '../base/git/tree-of.ts'

const names = (length: number) => Array.from({ length }, (_, index) => `${'a'.repeat(100)}${index}`)

/** Milliseconds of CPU, which other work of the machine does not add to. */
function timed(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

test('a BOM is part of the first pattern', () => {
  const packed = packTree(treeOf({ '.sourceignore': '\ufeff*\n', 'a.yaml': 'x' }))
  expect(packed.list('').map(entry => entry.name)).toEqual(['.sourceignore', 'a.yaml'])
})

test('patterns that multiply with paths are refused, soon', () => {
  const files = Object.fromEntries(names(3_000).map(name => [`dir/${name}`, 'x']))
  const lines = Array.from({ length: 3_000 }, () => '*a*a*a*b').join('\n')
  const tree = treeOf({ ...files, '.sourceignore': lines })
  expect(timed(() => expect(() => packTree(tree)).toThrow('too many steps'))).toBeLessThan(6_000)
})

test('packing is paid for once by all that share a budget, whoever packed first', () => {
  const files = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`dir/${index}`, 'x']))
  const tree = treeOf(files)
  const budget = new PackBudget()
  for (let index = 0; index < 1_000; index++) packTree(tree, '*.md', budget)
  const others = (from: number) => () => {
    for (let index = from; index < from + 1_000; index++) packTree(tree, `*.${index}`, budget)
  }
  expect(timed(() => expect(others(0)).toThrow('too many steps'))).toBeLessThan(6_000)
  expect(others(1_000)).toThrow('too many steps')
  expect(packTree(tree, '*.none').list('dir')).toHaveLength(10_000)
  expect(() => packTree(tree, '*.none', budget)).toThrow('too many steps')
})

test('more lines than anybody needs are refused', () => {
  expect(() => packTree(treeOf({ a: 'x' }), 'a\n'.repeat(5_001))).toThrow('5000 lines')
  expect(() => packTree(treeOf({ '.sourceignore': `${'a'.repeat(600_000)}\n` }))).toThrow('bytes')
  expect(() => packTree(treeOf({ a: 'x' }), 'a'.repeat(60_001))).toThrow('characters')
})
