import type { KubeObject } from '../../kube/object.ts'
import { type AdmissionWorld, type StoredQuery, selectObjects, storedObjects } from '../admission/admission-request.ts'
import { search } from '../jmespath/search.ts'
import {
  type ContextValue,
  fromJson,
  fromNode,
  isFields,
  isList,
  known,
  NotEvaluatedError,
  RuleError,
  textAt,
  valueAt,
} from '../jmespath/values.ts'
import { type JsonContext, substitute } from './json-context.ts'
import { admittedValue } from './rule-request.ts'

/** What context entries can read. */
export interface ContextWorld {
  /** The namespace of the policy; '' for a ClusterPolicy. */
  readonly policyNamespace: string
  /** `data` and `metadata` of a ConfigMap in the fleet. */
  configMap(namespace: string, name: string): ContextValue | undefined
  /** The body of the response to an API call. Throws NotEvaluatedError and RuleError. */
  apiCall(call: ApiCall): ContextValue
  /** The content of a GlobalContextEntry; throws as well. */
  globalEntry(name: string): ContextValue
  /** Whether a policy test gives the entry's values, instead of the source that the entry names. */
  isGiven(entry: string, source: string): boolean
}

const SOURCES = ['configMap', 'apiCall', 'globalReference', 'imageRegistry', 'variable'] as const

/** Adds the `context` of a rule or loop. A name is evaluated when an expression first uses it. */
export function addEntries(entries: ContextValue | undefined, context: JsonContext, world: ContextWorld): void {
  for (const entry of isList(entries) ? entries : []) {
    const name = textAt(entry, ['name'])
    const source = SOURCES.find(one => valueAt(entry, [one]) !== undefined)
    if (source === undefined) throw new RuleError(`context ${name} is of no known type`)
    if (!world.isGiven(name, source))
      context.defer(name, at => at.set(name, READERS[source](valueAt(entry, [source])!, name, at, world)))
  }
}

type Reader = (entry: ContextValue, name: string, context: JsonContext, world: ContextWorld) => ContextValue

const READERS: Readonly<Record<(typeof SOURCES)[number], Reader>> = {
  configMap: configMapOf,
  apiCall: responseOf,
  globalReference: globalEntryOf,
  imageRegistry: (_, name) => {
    throw new NotEvaluatedError(`context ${name} is of type imageRegistry`)
  },
  variable: variableOf,
}

function configMapOf(entry: ContextValue, entryName: string, context: JsonContext, world: ContextWorld): ContextValue {
  const [name, written] = ['name', 'namespace'].map(key => known(substitute(textAt(entry, [key]), context)))
  if (typeof name !== 'string' || typeof written !== 'string') {
    throw new RuleError(`context ${entryName}: the name of the ConfigMap is not a string`)
  }
  const namespace = written || world.policyNamespace || 'default'
  if (world.policyNamespace !== '' && namespace !== world.policyNamespace) {
    throw new RuleError(`context ${entryName}: the ConfigMap is in another namespace than the policy`)
  }
  const found = world.configMap(namespace, name)
  if (found === undefined) throw new NotEvaluatedError(`ConfigMap ${namespace}/${name} is not in the fleet`)
  return found
}

/** `apiCall`: `default` stands for a call that fails; `jmesPath` selects from the body of another. */
function responseOf(entry: ContextValue, name: string, context: JsonContext, world: ContextWorld): ContextValue {
  const of = (keys: readonly string[]) => {
    const text = known(substitute(textAt(entry, keys), context))
    if (typeof text !== 'string') throw new RuleError(`context ${name}: ${keys.join('.')} is not a string`)
    return text
  }
  const call = { method: of(['method']) || 'GET', urlPath: of(['urlPath']), service: of(['service', 'url']) }
  const fallback = valueAt(entry, ['default'])
  let body: ContextValue
  try {
    body = world.apiCall(call)
  } catch (error) {
    if (!(error instanceof RuleError) || fallback === undefined) throw error
    return fallback
  }
  return selected(entry, body, name, context)
}

/** `globalReference`: `<entry>` or `<entry>.<projection>`. */
function globalEntryOf(entry: ContextValue, name: string, context: JsonContext, world: ContextWorld): ContextValue {
  if (world.policyNamespace !== '')
    throw new RuleError(`context ${name}: globalReference is not allowed in namespaced policies`)
  const written = known(substitute(textAt(entry, ['name']), context))
  const [of = '', projection] = String(written).split('.')
  const content = world.globalEntry(of)
  const found = projection === undefined ? content : isFields(content) ? content.get(projection) : undefined
  if (found === undefined) throw new RuleError(`context ${name}: projection ${projection} of ${of} is not found`)
  return selected(entry, found, name, context)
}

function selected(entry: ContextValue, value: ContextValue, name: string, context: JsonContext): ContextValue {
  const text = textAt(entry, ['jmesPath'])
  if (text === '') return value
  const path = known(substitute(text, context))
  if (typeof path !== 'string') throw new RuleError(`context ${name}: jmesPath is not a string`)
  return search(path.trim(), value, context.steps)
}

/** `variable`: the result of `jmesPath` on `value` or on the context, or else `default`. */
function variableOf(entry: ContextValue, name: string, context: JsonContext): ContextValue {
  const text = textAt(entry, ['jmesPath'])
  const path = text === '' ? '' : known(substitute(text, context))
  if (typeof path !== 'string') throw new RuleError(`context ${name}: jmesPath is not a string`)
  const fallback = substitute(valueAt(entry, ['default']) ?? null, context)
  const value = valueAt(entry, ['value'])
  const given = value === undefined ? undefined : substitute(value, context)
  let found = fallback
  if (path === '') found = given ?? fallback
  else {
    try {
      const made = given === undefined ? context.query(path) : search(path.trim(), given, context.steps)
      if (given !== undefined || made !== null) found = made
    } catch (error) {
      if (!(error instanceof RuleError) || fallback === null) throw error
    }
  }
  if (found === null) throw new RuleError(`context ${name}: the variable is null`)
  return found
}

/** `apiCall` of a context entry, with its variables replaced. */
interface ApiCall {
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
