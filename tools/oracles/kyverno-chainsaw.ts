import { BailiwickError } from '../../src/base/errors.ts'
import { diskTree } from '../../src/git/folder-tree.ts'
import { playChainsaw } from './kyverno-chainsaw/play-chainsaw.ts'
import { readChainsaw, UnreadableError } from './kyverno-chainsaw/read-chainsaw.ts'

/**
 * `npm run conformance:kyverno -- DIR [FOLDER...]`: the chainsaw tests of a checkout of kyverno/kyverno. Each write of a test, after the
 * policies that it applied before, is denied or admitted there; we must answer the same, or name what is not evaluated. Columns `denied` and
 * `admitted` are equal answers.
 */
const [root, ...folders] = process.argv.slice(2)
if (root === undefined) throw new Error('name the folder of a checkout of github.com/kyverno/kyverno')

/** Tests about admission. The others are about reports, events, mutation, generation, cleanup and signatures. */
const FOLDERS = [
  ...['validate', 'validating-policies', 'namespaced-validating-policies', 'exceptions', 'autogen', 'filter'],
  ...['rangeoperators', 'deferred', 'cel', 'background-only', 'policy-exceptions-disabled', 'configs', 'flags'],
]

/** Kyverno's flags in the tests of `policy-exceptions-disabled`. */
const DISABLED = ['--enablePolicyException=false']

const FIELDS = ['denied', 'admitted', 'different', 'not evaluated', 'not read', 'nothing compared'] as const
type Field = (typeof FIELDS)[number]

const tree = diskTree(root)
const counts = new Map<string, Record<Field, number>>()
const causes = new Map<string, number>()
const add = (folder: string, field: Field) => {
  const row = counts.get(folder) ?? (Object.fromEntries(FIELDS.map(one => [one, 0])) as Record<Field, number>)
  counts.set(folder, { ...row, [field]: row[field] + 1 })
}
const because = (cause: string) => causes.set(cause, (causes.get(cause) ?? 0) + 1)

for (const folder of folders.length > 0 ? folders : FOLDERS) {
  for (const file of testsBelow(`test/conformance/chainsaw/${folder}`)) {
    try {
      const rows = playChainsaw(
        readChainsaw(tree, file),
        folder === 'policy-exceptions-disabled' ? DISABLED : undefined,
      )
      if (rows.length === 0) add(folder, 'nothing compared')
      for (const { request, expected, actual, why } of rows) {
        add(folder, actual === 'not evaluated' || actual === expected ? actual : 'different')
        if (actual === 'not evaluated') because(why)
        else if (actual !== expected)
          console.info(`different: ${file}: ${request}: ${expected}, here ${actual}. ${why.slice(0, 300)}`)
      }
    } catch (error) {
      if (!(error instanceof UnreadableError) && !(error instanceof BailiwickError)) throw error
      add(folder, 'not read')
      because(`not read: ${error.message}`)
    }
  }
}
console.table(Object.fromEntries(counts))
for (const [cause, number] of [...causes].sort((a, b) => b[1] - a[1])) console.info(`${number} ${cause}`)
process.exitCode = [...counts.values()].some(({ different }) => different > 0) ? 1 : 0

function testsBelow(folder: string): string[] {
  return tree.list(folder).flatMap(({ type, path, name }) => {
    if (type === 'directory') return testsBelow(path)
    return type === 'file' && name === 'chainsaw-test.yaml' ? [path] : []
  })
}
