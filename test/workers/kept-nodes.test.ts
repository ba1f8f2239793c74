import { expect, test } from 'vitest'
import { KeptNodes } from '../../workers/apply/watched-cluster.ts'
import { approvedNode } from '../cluster/approved-node.ts'

const node = (name: string, text = 'x', revisionSet = 'one') =>
  approvedNode('u', name, [{ kind: 'ConfigMap', text }], { revisionSet })

test('what was approved last is kept exactly, and nothing of before', () => {
  const kept = new KeptNodes()
  kept.replace([node('a'), node('b')])
  kept.replace([node('a', 'y', 'two'), node('c', 'x', 'two')])
  expect(kept.get(node('a').key)).toEqual(node('a', 'y', 'two'))
  expect(kept.get(node('b').key)).toBeUndefined()
  expect(kept.get(node('c').key)).toEqual(node('c', 'x', 'two'))
  kept.replace([])
  expect(kept.get(node('a').key)).toBeUndefined()
})

test('what does not fit is not kept, and makes room when it is gone', () => {
  const random = Array.from({ length: 400 }, (_, index) => Math.sin(index)).join()
  const kept = new KeptNodes(1_000)
  kept.replace([node('large', random), node('small')])
  expect(kept.get(node('large').key)).toBeUndefined()
  expect(kept.get(node('small').key)).toEqual(node('small'))
  for (let round = 0; round < 100; round++) kept.replace([node('small', `${round}`)])
  expect(kept.get(node('small').key)).toEqual(node('small', '99'))
})
