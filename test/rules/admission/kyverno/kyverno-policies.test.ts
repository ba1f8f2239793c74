import { expect, test } from 'vitest'
import { diskTree } from '../../../../src/git/folder-tree.ts'
import { findTests, loadTest } from '../../../../tools/oracles/kyverno-tests/load-test.ts'
import { runTest } from '../../../../tools/oracles/kyverno-tests/run-test.ts'

const tree = diskTree(new URL('./samples', import.meta.url).pathname)

test.each(findTests(tree, ''))('%s of kyverno/policies is answered as its own test says', file => {
  const rows = runTest(loadTest(tree, file, ''))
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.filter(({ status }) => status !== 'ok')).toEqual([])
})
