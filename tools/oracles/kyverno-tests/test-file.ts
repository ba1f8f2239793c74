import type { AdmissionOperation } from '../../../src/admission/admission/admission-request.ts'
import { BailiwickError } from '../../../src/base/errors.ts'
import type { Origin } from '../../../src/base/origin.ts'
import { at, type Json, type Node, stringAt, toJson } from '../../../src/kube/node.ts'
import { refuseUnknownKeys, textsOf } from '../../../src/kube/read-fields.ts'
import { readValues, type TestValues } from './test-values.ts'

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
  /** Files of `kind: ClusterResource`; with one, a test has a cluster. */
  readonly cluster: readonly string[]
  /** The file of `kind: Context`. */
  readonly context: string | undefined
  readonly variables: string | undefined
  readonly userInfo: string | undefined
  /** Values in the test itself; then Kyverno does not read `variables`. */
  readonly values: TestValues | undefined
  readonly responses: readonly TestResponse[]
  readonly globalEntries: readonly GlobalEntry[]
  readonly results: readonly ExpectedResult[]
  /** Names of the unsupported parts. */
  readonly unsupported: readonly string[]
}

/** The response to an HTTP request. */
interface TestResponse {
  /** '' for every method. */
  readonly method: string
  /** `url`, or `urlPath`. */
  readonly url: string
  readonly status: number
  readonly body: Json
}

/** The content of a GlobalContextEntry. */
export interface GlobalEntry {
  readonly name: string
  readonly data: Json
  readonly files: readonly string[]
  readonly fieldPath: string
  readonly projections: readonly { readonly name: string; readonly path: string }[]
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
  /** Names of the fields that compare an object which the policy changes or makes. */
  readonly compared: readonly string[]
}

const RESULTS = ['pass', 'fail', 'skip', 'warn', 'error']
const OPERATIONS: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE']
/** Keys of a test that would change its results. */
const UNSUPPORTED = ['jsonPayload', 'jsonPayloads', 'httpPayloads', 'envoyPayloads', 'checks']

/** As the Kyverno command line 1.19 reads them; it refuses any other key, too. The deprecated ones of older releases are read. */
const TEST_KEYS = [
  ...['apiVersion', 'kind', 'metadata', 'name', 'policies', 'resources', 'targetResources', 'paramResources'],
  ...['clusterResources', 'exceptions', 'context', 'variables', 'userinfo', 'values', 'results'],
  ...['apiCallResponses', 'globalContextEntries', ...UNSUPPORTED],
]
const RESULT_KEYS = [
  ...['policy', 'rule', 'kind', 'resources', 'resourceSpecs', 'result', 'operation', 'patchedResources'],
  ...['generatedResource', 'generatedResources', 'cloneSourceResource', 'failOnMissingResources'],
  ...['isValidatingAdmissionPolicy', 'isMutatingAdmissionPolicy', 'isValidatingPolicy', 'isDeletingPolicy'],
  ...['isImageValidatingPolicy', 'isGeneratingPolicy', 'isMutatingPolicy'],
  ...['status', 'resource', 'namespace', 'patchedResource'],
]
const OBJECT_KEYS = ['group', 'version', 'kind', 'namespace', 'subresource', 'name']
const GLOBAL_KEYS = ['name', 'data', 'resources', 'resourceFiles', 'fieldPath', 'projections']

/** Parses a test. Throws `config` if it is not a test. */
export function readTest(root: Node | undefined, origin: Origin): PolicyTest {
  if (root?.type !== 'map') throw refused('the file is not a map', root?.origin ?? origin)
  refuseUnknownKeys(root, '', TEST_KEYS)
  const results = at(root, ['results'])
  if (results && results.type !== 'list') throw refused('results is not a list', results.origin)
  return {
    name: stringAt(root, ['metadata', 'name']) ?? stringAt(root, ['name']) ?? '',
    origin: root.origin,
    policies: textList(root, 'policies'),
    resources: textList(root, 'resources'),
    exceptions: textList(root, 'exceptions'),
    objects: ['paramResources', 'targetResources'].flatMap(key => textList(root, key)),
    cluster: textList(root, 'clusterResources'),
    context: stringAt(root, ['context']),
    variables: stringAt(root, ['variables']),
    userInfo: stringAt(root, ['userinfo']),
    values: at(root, ['values']) && readValues(at(root, ['values'])),
    responses: itemsOf(at(root, ['apiCallResponses'])).map(readResponse),
    globalEntries: itemsOf(at(root, ['globalContextEntries'])).map(readGlobalEntry),
    results: (results?.items ?? []).map(readResult),
    unsupported: UNSUPPORTED.filter(key => at(root, [key]) !== undefined),
  }
}

function readResponse(item: Node): TestResponse {
  refuseUnknownKeys(item, 'apiCallResponses', ['url', 'urlPath', 'method', 'response'])
  refuseUnknownKeys(at(item, ['response']), 'apiCallResponses.response', ['statusCode', 'body'])
  const status = at(item, ['response', 'statusCode'])
  const body = at(item, ['response', 'body'])
  const url = (stringAt(item, ['url']) ?? stringAt(item, ['urlPath']) ?? '').trim()
  if (url === '' || body?.type !== 'map') throw refused('a response has no url, or its body is not a map', item.origin)
  const code = status?.type === 'scalar' ? Number(status.value) : 200
  return { method: (stringAt(item, ['method']) ?? '').trim().toUpperCase(), url, status: code, body: toJson(body) }
}

function readGlobalEntry(item: Node): GlobalEntry {
  refuseUnknownKeys(item, 'globalContextEntries', GLOBAL_KEYS)
  for (const one of itemsOf(at(item, ['projections'])))
    refuseUnknownKeys(one, 'globalContextEntries.projections', ['name', 'path'])
  const [data, resources] = [at(item, ['data']), at(item, ['resources'])]
  return {
    name: (stringAt(item, ['name']) ?? '').trim(),
    data: data ? toJson(data) : resources ? toJson(resources) : null,
    files: textList(item, 'resourceFiles'),
    fieldPath: stringAt(item, ['fieldPath']) ?? '',
    projections: itemsOf(at(item, ['projections'])).map(one => ({
      name: stringAt(one, ['name']) ?? '',
      path: stringAt(one, ['path']) ?? '',
    })),
  }
}

function readResult(item: Node): ExpectedResult {
  refuseUnknownKeys(item, 'results', RESULT_KEYS)
  for (const spec of itemsOf(at(item, ['resourceSpecs']))) refuseUnknownKeys(spec, 'results.resourceSpecs', OBJECT_KEYS)
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
    operation: OPERATIONS.find(one => one === stringAt(item, ['operation'])),
    compared: COMPARED.filter(key => at(item, [key]) !== undefined),
  }
}

/** Fields of a result that name an object to compare. */
const COMPARED = ['patchedResources', 'patchedResource', 'generatedResource', 'generatedResources']

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
