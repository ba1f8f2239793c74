import { type KyvernoCheck, kyvernoChecks, kyvernoTests } from '../policy/kyverno/kyverno-checks.ts'

/** `node test/oracles/kyverno-policies.ts DIR`: every check of validating rules in the kyverno-test.yaml files of a checkout of kyverno/policies. */
const [root] = process.argv.slice(2)
if (root === undefined) throw new Error('name the folder of a checkout of github.com/kyverno/policies')

const counts = new Map<string, { equal: number; different: number; notEvaluated: number }>()
for (const check of kyvernoTests(root).flatMap(kyvernoChecks)) {
  const count = counts.get(check.type) ?? { equal: 0, different: 0, notEvaluated: 0 }
  counts.set(check.type, count)
  if (check.found === check.expected) count.equal++
  else {
    if (check.found === 'not evaluated') count.notEvaluated++
    else count.different++
    console.info(line(check))
  }
}
console.table(Object.fromEntries(counts))

function line({ file, policy, rule, resource, type, expected, found, why }: KyvernoCheck): string {
  return `${file.slice(root!.length)} ${policy}/${rule} ${resource} (${type}): ${expected}, here ${found}. ${why}`
}
