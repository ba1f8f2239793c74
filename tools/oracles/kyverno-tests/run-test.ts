import type {
  AdmissionOperation,
  AdmissionRequest,
  AdmissionWorld,
  PolicyRuleName,
} from '../../../src/admission/admission/admission-request.ts'
import { evaluateAdmission } from '../../../src/admission/policy-engines.ts'
import type { Origin } from '../../../src/base/origin.ts'
import { kindOf } from '../../../src/fleet/facts/object-table.ts'
import { customScopes, scopeOf } from '../../../src/kube/capabilities/scope.ts'
import { at, stringAt } from '../../../src/kube/node.ts'
import { display, idOf, type KubeObject } from '../../../src/kube/object.ts'
import { customPlurals, resourceOf } from '../../../src/kube/rbac/resources.ts'
import type { ExpectedResult, PolicyTest } from './test-file.ts'
import { inputsOf, type TestContent, valuesFor } from './test-inputs.ts'
import { operationIn } from './test-values.ts'
import { bindingsOf, namespacesOf, type TestUser, testWorld, unboundOf } from './test-world.ts'

/** A test with the content of its files. */
export interface LoadedTest extends TestContent {
  readonly test: PolicyTest
  readonly policies: readonly KubeObject[]
  readonly resources: readonly KubeObject[]
  readonly objects: readonly KubeObject[]
  readonly user: TestUser | undefined
}

/** The result of one expectation for one object. */
export interface TestRow {
  readonly policy: string
  readonly rule: string
  readonly resource: string
  readonly expected: string
  readonly actual: 'pass' | 'fail' | 'error' | 'warn' | 'skip' | 'not evaluated' | 'not found'
  readonly status: 'ok' | 'failed' | 'not evaluated'
  readonly message: string
  readonly origin: Origin
}

/** Compares the policies' results with the expectations of a test; one row for each expectation and object. Pure. */
export function runTest(loaded: LoadedTest): TestRow[] {
  const { policies, objects, resources, values, user, test, cluster = [] } = loaded
  const bindings = user ? bindingsOf(user, test.origin) : []
  const unbound = unboundOf([...policies, ...objects], test.origin)
  const all = [
    ...resources,
    ...objects,
    ...cluster,
    ...namespacesOf(values.namespaces, test.origin),
    ...policies,
    ...unbound,
    ...bindings,
  ]
  const definitions = all.filter(one => kindOf(one) === 'apiextensions.k8s.io/CustomResourceDefinition')
  const kinds = { scopes: customScopes(definitions), plurals: customPlurals(definitions) }
  const given = inputsOf(test, loaded, [...resources, ...objects], kinds.plurals)
  const world = { ...testWorld(all, test.origin), given }
  const answers = new Map<KubeObject, Map<AdmissionOperation, Answers>>()
  const ask = (object: KubeObject, operation: AdmissionOperation) => {
    const own = answers.get(object) ?? new Map<AdmissionOperation, Answers>()
    answers.set(object, own)
    const known = own.get(operation) ?? answersOf(world, requestOf(object, kinds, operation, loaded))
    own.set(operation, known)
    return known
  }
  return loaded.test.results.flatMap(expected => rowsOf(loaded, expected, ask))
}

/** The policies' answers for one object. A rule without an answer did not apply to it. */
interface Answers {
  readonly said: readonly { readonly policy: string; readonly rule: string; readonly answer: Answer }[]
}

interface Answer {
  readonly actual: 'pass' | 'fail' | 'error' | 'not evaluated'
  readonly message: string
}

function rowsOf(
  loaded: LoadedTest,
  expected: ExpectedResult,
  ask: (object: KubeObject, operation: AdmissionOperation) => Answers,
): TestRow[] {
  const { origin, rule, result } = expected
  const row = { policy: expected.policy, rule, expected: result, origin }
  const policyName = expected.policy.split('/').at(-1)!
  const policy = loaded.policies.find(one => idOf(one).name === policyName)
  const missing = (resource: string, message: string): TestRow => ({
    ...{ ...row, resource, message, actual: 'not found', status: 'failed' },
  })
  if (!policy) return [missing('', 'the test has no policy of this name')]
  const why = whyNotAsked(loaded, policy, expected)
  if (why === NO_RULE) return [missing('', why)]
  const { found, absent } = resourcesFor(loaded, expected)
  if (why !== undefined) {
    // what a policy changes or makes may be no resource of the test
    const names = [...absent, ...found.map(object => display(idOf(object)))]
    return (names.length > 0 ? names : ['']).map(resource => ({
      ...{ ...row, resource, message: why, actual: 'not evaluated', status: 'not evaluated' },
    }))
  }
  return [
    ...absent.map(name => missing(name, 'the test has no resource of this name')),
    ...found.map((object): TestRow => {
      const resource = display(idOf(object))
      const operation = expected.operation ?? operationFor(loaded, policy, object)
      const { actual, message } = answerOf(ask(object, operation), policy, rule)
      return { ...row, resource, actual, message, status: statusOf(result, actual) }
    }),
  ]
}

function operationFor({ values }: LoadedTest, policy: KubeObject, object: KubeObject): AdmissionOperation {
  const isOfRules = RULE_KINDS.includes(idOf(policy).kind)
  const given = isOfRules ? valuesFor(values, idOf(policy).name, idOf(object).name) : values.globals
  return operationIn(given) ?? 'CREATE'
}

/** Kinds whose policies have named rules. */
const RULE_KINDS = ['ClusterPolicy', 'Policy']

/** Why a policy cannot be evaluated faithfully: the test gives inputs that the engines do not support. */
function whyNotAsked({ test }: LoadedTest, policy: KubeObject, { rule, compared }: ExpectedResult): string | undefined {
  const [unsupported] = test.unsupported
  if (unsupported !== undefined) return `${unsupported} of a test is not supported`
  const [field] = compared
  if (field !== undefined) return `${field} of a result is not compared`
  if (!ENGINES.has(kindOf(policy))) return `policies of kind ${idOf(policy).kind} are not evaluated`
  return ruleNotAsked(policy, rule)
}

const NO_RULE = 'the policy has no rule of this name'

/** Kyverno rules that mutate, generate or verify images are not evaluated, so their silence does not count as a pass. */
function ruleNotAsked(policy: KubeObject, rule: string): string | undefined {
  if (!RULE_KINDS.includes(idOf(policy).kind)) return undefined
  const list = at(policy.root, ['spec', 'rules'])
  const rules = list?.type === 'list' ? list.items : []
  const own = rules.filter(one => rule === '' || isRule(stringAt(one, ['name']) ?? '', rule))
  if (own.length === 0) return NO_RULE
  const other = own.find(one => at(one, ['validate']) === undefined)
  if (!other) return undefined
  const what =
    ['mutate', 'generate', 'verifyImages'].find(key => at(other, [key]) !== undefined) ?? 'a rule without validate'
  return `${what} is not evaluated`
}

/** Policy kinds that the engines evaluate. */
const ENGINES = new Set([
  'kyverno.io/ClusterPolicy',
  'kyverno.io/Policy',
  'policies.kyverno.io/ValidatingPolicy',
  'policies.kyverno.io/NamespacedValidatingPolicy',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
])

/** The objects that an expectation names, or all objects of its kind if it names none. */
function resourcesFor({ resources }: LoadedTest, { kind, resources: names }: ExpectedResult) {
  const ofKind = resources.filter(object => kind === '' || idOf(object).kind === kind.split('/').at(-1))
  if (names.length === 0) return { found: ofKind, absent: [] }
  const matches = (name: string) =>
    ofKind.filter(object => {
      const id = idOf(object)
      return name === id.name || name === `${id.namespace || 'default'}/${id.name}`
    })
  return {
    found: [...new Set(names.flatMap(matches))],
    absent: names.filter(name => matches(name).length === 0),
  }
}

function answersOf(world: AdmissionWorld, request: AdmissionRequest): Answers {
  const said: Answers['said'][number][] = []
  const take = ({ policy, rule }: PolicyRuleName, actual: Answer['actual'], message = '') =>
    void said.push({ policy: policy.name, rule, answer: { actual, message } })
  const answer = evaluateAdmission(world, { ...request, passed: one => take(one, 'pass') })
  for (const one of answer.findings) take(one, one.isError ? 'error' : 'fail', one.message)
  for (const one of answer.notEvaluated) take(one, 'not evaluated', one.why)
  return { said }
}

interface Kinds {
  readonly scopes: ReturnType<typeof customScopes>
  readonly plurals: ReturnType<typeof customPlurals>
}

function requestOf(
  object: KubeObject,
  { scopes, plurals }: Kinds,
  operation: AdmissionOperation,
  { user, values }: LoadedTest,
): AdmissionRequest {
  const id = idOf(object)
  const scope = scopeOf(id.apiVersion, id.kind, scopes)
  const isNamespaced = (scope ?? (id.namespace ? 'Namespaced' : 'Cluster')) === 'Namespaced'
  const part = values.subresources.find(one => one.apiVersion === id.apiVersion && one.kind === id.kind)
  const placed = isNamespaced && id.namespace === '' ? inDefault(object) : object
  return {
    operation,
    object: placed,
    id: { ...id, namespace: isNamespaced ? id.namespace || 'default' : '' },
    ...(operation === 'UPDATE' ? { old: placed } : {}),
    user: user?.user ?? { name: '', groups: [] },
    resource: resourceOf(id.apiVersion, id.kind, plurals),
    isNamespaced,
    ...(part ? { parent: { ...part.parent, subresource: part.name.split('/')[1] ?? '' } } : {}),
  }
}

/** Kyverno's command line places objects without a namespace in `default`. */
function inDefault({ root, ...object }: KubeObject): KubeObject {
  const metadata = root.fields.get('metadata')
  if (metadata?.value.type !== 'map') return { ...object, root }
  const { origin } = metadata.value
  const namespace = { key: origin, value: { type: 'scalar', value: 'default', origin } as const }
  const value = { ...metadata.value, fields: new Map([...metadata.value.fields, ['namespace', namespace]]) }
  return { ...object, root: { ...root, fields: new Map([...root.fields, ['metadata', { ...metadata, value }]]) } }
}

/** The most severe result of a rule. For a policy without rules, or an expectation without one, the result of the whole policy. */
function answerOf({ said }: Answers, policy: KubeObject, rule: string): Pick<TestRow, 'actual' | 'message'> {
  const { name, kind } = idOf(policy)
  const hasRules = RULE_KINDS.includes(kind)
  const own = said.filter(one => one.policy === name && (!hasRules || rule === '' || isRule(one.rule, rule)))
  const of = (actual: Answer['actual']) => own.find(one => one.answer.actual === actual)?.answer
  const answer = of('not evaluated') ?? of('error') ?? of('fail') ?? of('pass')
  if (!answer) return { actual: 'skip', message: '' }
  const isUnscored = stringAt(at(policy.root, ['metadata', 'annotations']), ['policies.kyverno.io/scored']) === 'false'
  return { ...answer, actual: answer.actual === 'fail' && isUnscored ? 'warn' : answer.actual }
}

/** Kyverno derives the name of a generated Pod controller rule from the rule for Pods. */
const isRule = (rule: string, asked: string) =>
  rule === asked || asked === `autogen-${rule}` || asked === `autogen-cronjob-${rule}`

/** As in Kyverno's command line, an object to which no rule applies fails only an expectation of denial. */
function statusOf(expected: string, actual: TestRow['actual']): TestRow['status'] {
  if (actual === 'not evaluated') return 'not evaluated'
  if (expected === actual) return 'ok'
  if (actual === 'skip') return expected === 'pass' ? 'ok' : 'failed'
  return expected === 'error' && actual === 'fail' ? 'ok' : 'failed'
}
