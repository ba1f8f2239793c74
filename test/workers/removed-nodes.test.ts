import { expect, test } from 'vitest'
import { type Inventory, newInventory } from '../../src/cluster/inventory.ts'
import { removedNodes } from '../../workers/apply/prune-run.ts'

const inventory = (node: string, parent: string | null): Inventory => ({ ...newInventory('c', node, 'u'), parent })
const inventories = [
  inventory('root', null),
  inventory('tenants', 'root'),
  inventory('ops', 'tenants'),
  inventory('app', 'ops'),
]
const names = (present: string[], applied: string[]) =>
  removedNodes(inventories, new Set(present), new Set(applied)).map(one => one.node)

test('nothing is removed while everything is judged', () => {
  expect(names(['root', 'tenants', 'ops', 'app'], ['root', 'tenants', 'ops', 'app'])).toEqual([])
})

test('a node that its applied parent renders no more is removed, children first', () => {
  expect(names(['root', 'tenants'], ['root', 'tenants'])).toEqual(['app', 'ops'])
})

test('what a red or failed parent does not show is not gone', () => {
  expect(names(['root', 'tenants'], ['root'])).toEqual([])
  expect(names(['root', 'tenants', 'ops'], ['root', 'tenants'])).toEqual([])
})

test('a root is never removed: a cluster that vanished from the fleet keeps what it has', () => {
  expect(names([], [])).toEqual([])
})

test('parents in a circle end', () => {
  const circle = [inventory('a', 'b'), inventory('b', 'a')]
  expect(removedNodes(circle, new Set(), new Set(['x']))).toEqual([])
})
