import { expect, test } from 'vitest'
import { playChainsaw } from '../../../tools/oracles/kyverno-chainsaw/play-chainsaw.ts'
import { readChainsaw } from '../../../tools/oracles/kyverno-chainsaw/read-chainsaw.ts'
import { treeOf } from '../../base/git/tree-of.ts'

const POLICY = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: teams}
spec:
  rules:
    - name: team
      match: {any: [{resources: {kinds: [ConfigMap]}}]}
      validate:
        failureAction: Enforce
        message: a team is needed
        pattern: {metadata: {labels: {team: "?*"}}}
`
const map = (name: string, labels = '{}', data = '{a: b}') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, labels: ${labels}}\ndata: ${data}\n`
const EXCEPTION = (namespace: string) => `apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: exempt, namespace: ${namespace}}
spec:
  exceptions: [{policyName: teams, ruleNames: [team]}]
  match: {any: [{resources: {kinds: [ConfigMap], names: [exempt-*]}}]}
`
const TEMPLATE = `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: StepTemplate
metadata: {name: create-policy}
spec: {try: [{create: {file: ($file)}}]}
`
const REFUSED = 'expect: [{check: {($error != null): true}}]'

function rowsOf(steps: string, files: Readonly<Record<string, string>>, flags?: readonly string[]) {
  const text = `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: own}
spec:
  steps:
    - {use: {template: ../templates/create.yaml, with: {bindings: [{name: file, value: policy.yaml}]}}}
    - try:
${steps.replaceAll(/^/gm, '        ')}
`
  const own = Object.entries({ 'chainsaw-test.yaml': text, 'policy.yaml': POLICY, ...files })
  const tree = treeOf({
    'templates/create.yaml': TEMPLATE,
    ...Object.fromEntries(own.map(([name, content]) => [`own/${name}`, content])),
  })
  return playChainsaw(readChainsaw(tree, 'own/chainsaw-test.yaml'), flags).map(
    ({ request, expected, actual }) => `${request}: ${expected}, ${actual}`,
  )
}

test('objects of a test are denied and admitted as it expects, and scripts that are not followed are named', () => {
  const steps = `- apply: {file: good.yaml}
- apply: {file: bad.yaml, ${REFUSED}}
- error: {file: bad.yaml}
- script: {content: kubectl apply -f bad.yaml, check: {($error != null): true}}
- script: {content: "if kubectl apply -f bad.yaml\\nthen\\n exit 1\\nelse\\n exit 0\\nfi"}
- delete: {ref: {apiVersion: v1, kind: ConfigMap, name: good}}
- script: {content: kubectl get cm}
- script: {content: kubectl scale deployment web --replicas 2}
- apply: {file: good.yaml}`
  const files = { 'good.yaml': map('good', '{team: a}'), 'bad.yaml': map('bad') }
  expect(rowsOf(steps, files)).toEqual([
    'CREATE ConfigMap chainsaw-test/good: admitted, admitted',
    'CREATE ConfigMap chainsaw-test/bad: denied, denied',
    'CREATE ConfigMap default/bad: denied, denied',
    'CREATE ConfigMap default/bad: denied, denied',
    'DELETE ConfigMap chainsaw-test/good: admitted, admitted',
    'script: admitted, not evaluated',
    'CREATE ConfigMap chainsaw-test/good: admitted, not evaluated',
  ])
})

test('an answer that is not the expected one is a difference, also where a merge of the objects passes', () => {
  const files = {
    'bad.yaml': map('bad'),
    'good.yaml': map('good', '{team: a}'),
    'same.yaml': map('good', '{}', '{c: d}'),
    'without.yaml': map('good', '{team: null}'),
  }
  const steps = `- apply: {file: bad.yaml}
- apply: {file: good.yaml, ${REFUSED}}
- apply: {file: good.yaml}
- apply: {file: same.yaml}
- update: {file: without.yaml, ${REFUSED}}`
  expect(rowsOf(steps, files)).toEqual([
    'CREATE ConfigMap chainsaw-test/bad: admitted, denied',
    'CREATE ConfigMap chainsaw-test/good: denied, admitted',
    'CREATE ConfigMap chainsaw-test/good: admitted, admitted',
    'UPDATE ConfigMap chainsaw-test/good: admitted, admitted',
    'UPDATE ConfigMap chainsaw-test/good: denied, denied',
  ])
})

test.each([
  [['--enablePolicyException=true', '--exceptionNamespace=*'], 'apps', 'admitted'],
  [['--enablePolicyException', '--exceptionNamespace', 'apps'], 'apps', 'admitted'],
  [['--enablePolicyException=true', '--exceptionNamespace=apps'], 'other', 'denied'],
  [['--enablePolicyException=true'], 'apps', 'denied'],
  [['--enablePolicyException=true', '--exceptionNamespace=*', '--enablePolicyException=false'], 'apps', 'denied'],
  [['--enablePolicyException=T', '-exceptionNamespace=*'], 'apps', 'admitted'],
  // what is not shown counts as read
  [['--v=2'], 'apps', 'admitted'],
])('an exception counts where the flags of Kyverno let it: %s, %s', (flags, namespace, expected) => {
  const files = { 'exception.yaml': EXCEPTION(namespace), 'exempt.yaml': map('exempt-1') }
  const [row] = rowsOf('- apply: {file: exception.yaml}\n- apply: {file: exempt.yaml}', files, flags)
  expect(row).toBe(`CREATE ConfigMap chainsaw-test/exempt-1: admitted, ${expected}`)
})
