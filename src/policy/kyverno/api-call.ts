import type { KubeObject } from '../../kube/object.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { type StoredQuery, selectObjects, storedObjects } from '../admission/stored-objects.ts'
import { admittedValue } from './admitted-value.ts'
import { type ContextValue, fromJson, fromNode, NotEvaluatedError, RuleError } from './jmespath/values.ts'

/** `apiCall` of a context entry, with its variables replaced. */
export interface ApiCall {
  readonly method: string
  readonly urlPath: string
  /** `service.url`; '' for a call to the API server. */
  readonly service: string
}

/** `/api/v1` or `/apis/GROUP/VERSION`, maybe a namespace, a resource, and maybe a name. */
const PATH = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))(?:\/namespaces\/([^/]+)(?=\/.))?\/([^/]+)(?:\/([^/]+))?$/

/** The body of the response to a call; throws NotEvaluatedError where only the cluster knows it. */
export function apiCallBody(world: AdmissionWorld, call: ApiCall, policyNamespace: string): ContextValue {
  const { method, urlPath, service } = call
  const { given } = world
  const response = given?.response(method, service || urlPath)
  if (response) {
    if (response.status < 200 || response.status > 299) throw new RuleError(`HTTP ${response.status}`)
    return fromJson(response.body)
  }
  if (service !== '') throw new NotEvaluatedError(`apiCall of ${shown(service)} asks a service`)
  if (method !== 'GET') throw new NotEvaluatedError(`apiCall with ${method} has no stored answer`)
  const query = queryOf(urlPath)
  if (policyNamespace !== '' && query?.namespace !== policyNamespace)
    throw new RuleError(`path ${shown(urlPath)} is not in the namespace of the policy`)
  if (!query) throw new NotEvaluatedError(`apiCall of ${shown(urlPath)} is not the path of an object or a list`)
  if (!given) return fromFleet(world, urlPath, query)
  if (!given.cluster) throw new NotEvaluatedError(`the test has no response for apiCall of ${shown(urlPath)}`)
  const objects = selectObjects(given.cluster, query, given.resourceOf)
  const items = objects.map(({ root }) => fromNode(root))
  if (query.name === '') return new Map<string, ContextValue>([['items', items]])
  if (items.length === 0) throw new RuleError(`${shown(urlPath)} is not found`)
  return items[0]!
}

function fromFleet(world: AdmissionWorld, urlPath: string, query: StoredQuery): ContextValue {
  const found = storedObjects(world, query)
  if (typeof found === 'string') throw new NotEvaluatedError(`apiCall of ${shown(urlPath)}: ${found}`)
  const [object]: readonly [KubeObject] = found
  return admittedValue(object)
}

function queryOf(urlPath: string): StoredQuery | undefined {
  if (/[?#%\\]|\/\.{0,2}\/|\/\.{1,2}$/.test(urlPath)) return undefined
  const [, core, group, namespace = '', resource, name = ''] = PATH.exec(urlPath) ?? []
  return resource === undefined ? undefined : { apiVersion: core ?? group!, resource, namespace, name }
}

const shown = (text: string) => JSON.stringify(text.slice(0, 200))
