import { BailiwickError } from '../../src/base/errors.ts'
import { diskTree } from '../../src/git/folder-tree.ts'
import { at, stringAt } from '../../src/kube/node.ts'
import { idOf } from '../../src/kube/object.ts'
import { findTests, loadTest } from './kyverno-tests/load-test.ts'
import { type LoadedTest, runTest, type TestRow } from './kyverno-tests/run-test.ts'

/** `node tools/oracles/kyverno-policies.ts DIR`: the kyverno-test.yaml files of a checkout, such as kyverno/policies, by kind of check. */
const [root] = process.argv.slice(2)
if (root === undefined) throw new Error('name the folder of a checkout of github.com/kyverno/policies')

const CHECKS = ['pattern', 'anyPattern', 'deny', 'foreach', 'cel', 'podSecurity', 'manifests', 'assert']
const counts = new Map<string, Record<TestRow['status'], number>>()
const causes = new Map<string, number>()
const tree = diskTree(root)
for (const file of findTests(tree, '')) {
  try {
    const loaded = loadTest(tree, file, '')
    for (const row of runTest(loaded)) count(file, loaded, row)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    console.info(`${file}: not read. ${error.message}`)
  }
}
console.table(Object.fromEntries(counts))
for (const [cause, number] of [...causes].sort((a, b) => b[1] - a[1])) console.info(`${number} ${cause}`)

function count(file: string, loaded: LoadedTest, row: TestRow): void {
  const type = typeOf(loaded, row)
  const count = counts.get(type) ?? { ok: 0, failed: 0, 'not evaluated': 0 }
  counts.set(type, { ...count, [row.status]: count[row.status] + 1 })
  if (row.status === 'ok') return
  if (row.status === 'not evaluated') causes.set(row.message, (causes.get(row.message) ?? 0) + 1)
  const { policy, rule, resource, expected, actual, message } = row
  console.info(
    `${row.status}: ${file} ${policy}/${rule} ${resource} (${type}): ${expected}, here ${actual}. ${message}`,
  )
}

/** The kind of check of a rule, or the kind of a policy without rules. */
function typeOf({ policies }: LoadedTest, { policy, rule }: TestRow): string {
  const found = policies.find(one => idOf(one).name === policy.split('/').at(-1))
  if (!found) return 'no policy'
  const list = at(found.root, ['spec', 'rules'])
  if (list?.type !== 'list') return idOf(found).kind
  const own = list.items.find(one => rule === '' || rule.endsWith(stringAt(one, ['name']) ?? ''))
  const others = ['mutate', 'generate', 'verifyImages']
  return CHECKS.find(key => at(own, ['validate', key])) ?? others.find(key => own && at(own, [key])) ?? 'no such rule'
}
