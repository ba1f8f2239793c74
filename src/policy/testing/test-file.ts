import { BailiwickError } from '../../errors.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { textMapOf, textsOf } from '../../kube/read-text.ts'
import type { Origin } from '../../origin.ts'
import type { AdmissionOperation } from '../admission/admission-request.ts'

/** The content of a kyverno-test.yaml (github.com/kyverno/kyverno, cmd/cli/kubectl-kyverno/apis/v1alpha1). */
export interface PolicyTest {
  readonly name: string
  readonly origin: Origin
  /** File paths relative to the test file. */
  readonly policies: readonly string[]
  readonly resources: readonly string[]
  readonly exceptions: readonly string[]
  /** Cluster objects that policies may read, such as parameters. */
  readonly objects: readonly string[]
  readonly variables: string | undefined
  readonly userInfo: string | undefined
  readonly values: TestValues
  readonly results: readonly ExpectedResult[]
  /** Names of the unsupported parts. */
  readonly unsupported: readonly string[]
}

/** Values that a test gives in place of a cluster. */
export interface TestValues {
  /** Namespace labels by namespace. */
  readonly namespaces: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly operation: AdmissionOperation | undefined
  /** Policies to which the test gives values that rules cannot receive here; '*' stands for all policies. */
  readonly given: ReadonlySet<string>
}

/** An expected policy result for some objects. */
export interface ExpectedResult {
  readonly origin: Origin
  readonly policy: string
  readonly rule: string
  readonly kind: string
  /** `name` or `namespace/name`; empty: every object of the kind. */
  readonly resources: readonly string[]
  readonly result: string
  readonly operation: AdmissionOperation | undefined
}

const RESULTS = ['pass', 'fail', 'skip', 'warn', 'error']
const OPERATIONS: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE']
/** Keys of a test that would change its results. */
const UNSUPPORTED = [
  'jsonPayload',
  'jsonPayloads',
  'httpPayloads',
  'envoyPayloads',
  'context',
  'apiCallResponses',
  'globalContextEntries',
]

export const NO_VALUES: TestValues = { namespaces: new Map(), operation: undefined, given: new Set() }

/** Parses a test. Throws `config` if it is not a test. */
export function readTest(root: Node | undefined, origin: Origin): PolicyTest {
  if (root?.type !== 'map') throw refused('the file is not a map', root?.origin ?? origin)
  const results = at(root, ['results'])
  if (results && results.type !== 'list') throw refused('results is not a list', results.origin)
  return {
    name: stringAt(root, ['metadata', 'name']) ?? stringAt(root, ['name']) ?? '',
    origin: root.origin,
    policies: textList(root, 'policies'),
    resources: textList(root, 'resources'),
    exceptions: textList(root, 'exceptions'),
    objects: ['paramResources', 'clusterResources', 'targetResources'].flatMap(key => textList(root, key)),
    variables: stringAt(root, ['variables']),
    userInfo: stringAt(root, ['userinfo']),
    values: readValues(at(root, ['values'])),
    results: (results?.items ?? []).map(readResult),
    unsupported: UNSUPPORTED.filter(key => at(root, [key]) !== undefined),
  }
}

/** Parses the values of a test or of its values file. */
export function readValues(spec: Node | undefined): TestValues {
  const globals = at(spec, ['globalValues'])
  const names = globals?.type === 'map' ? [...globals.fields.keys()] : []
  const listed = [...itemsOf(at(spec, ['namespaceSelector']))].map(
    one => [stringAt(one, ['name']) ?? '', textMapOf(at(one, ['labels'])) ?? new Map()] as const,
  )
  const given = itemsOf(at(spec, ['policies'])).flatMap(one => {
    const lists = [...itemsOf(at(one, ['rules'])), ...itemsOf(at(one, ['resources']))]
    return lists.some(hasValues) ? [stringAt(one, ['name']) ?? ''] : []
  })
  return {
    namespaces: new Map(listed),
    operation: operationOf(stringAt(globals, ['request.operation'])),
    given: new Set([...given, ...(names.some(name => name !== 'request.operation') ? ['*'] : [])]),
  }
}

/** Merges both; the second one takes precedence. */
export function mergeValues(one: TestValues, other: TestValues): TestValues {
  return {
    namespaces: new Map([...one.namespaces, ...other.namespaces]),
    operation: other.operation ?? one.operation,
    given: new Set([...one.given, ...other.given]),
  }
}

const hasValues = (item: Node) =>
  ['values', 'foreachValues'].some(key => {
    const node = at(item, [key])
    return node?.type === 'map' && node.fields.size > 0
  })

function readResult(item: Node): ExpectedResult {
  const policy = stringAt(item, ['policy'])
  const result = stringAt(item, ['result']) ?? stringAt(item, ['status'])
  if (policy === undefined) throw refused('a result has no policy', item.origin)
  if (result === undefined || !RESULTS.includes(result))
    throw refused(`result is not one of ${RESULTS.join(', ')}`, at(item, ['result'])?.origin ?? item.origin)
  const one = stringAt(item, ['resource'])
  const specs = itemsOf(at(item, ['resourceSpecs'])).map(spec => {
    const [namespace, name] = [stringAt(spec, ['namespace']) ?? '', stringAt(spec, ['name']) ?? '']
    return namespace === '' ? name : `${namespace}/${name}`
  })
  return {
    origin: item.origin,
    policy,
    rule: stringAt(item, ['rule']) ?? '',
    kind: stringAt(item, ['kind']) ?? '',
    resources: [...textList(item, 'resources'), ...specs, ...(one === undefined ? [] : [one])],
    result,
    operation: operationOf(stringAt(item, ['operation'])),
  }
}

const operationOf = (text: string | undefined) => OPERATIONS.find(one => one === text)

const itemsOf = (node: Node | undefined): readonly Node[] => (node?.type === 'list' ? node.items : [])

function textList(root: Node, key: string): readonly string[] {
  const node = at(root, [key])
  if (!node || (node.type === 'scalar' && node.value === null)) return []
  const texts = textsOf(node)
  if (!texts) throw refused(`${key} is not a list of strings`, node.origin)
  return texts
}

function refused(message: string, origin: Origin): BailiwickError {
  const fix = 'Write the file as the Kyverno command line reads it: policies, resources and results.'
  return new BailiwickError('config', message, { origin, fix })
}
