import { CelError, CelUnknownError } from '../../cel/cel-error.ts'
import { OutsideContext } from '../../cel/kyverno/outside-context.ts'
import { CelMap, type CelValue, fromJson } from '../../cel/values.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import type { GivenInputs } from '../admission/given-inputs.ts'
import { objectValueIn } from '../admission/object-value.ts'
import { type StoredQuery, selectObjects, storedObjects } from '../admission/stored-objects.ts'

type Args = readonly CelValue[]

/** The names of Kyverno's expressions that read a cluster, a registry or the network. */
export function outsideNames(world: AdmissionWorld, policyNamespace: string): ReadonlyMap<string, CelValue> {
  const { given } = world
  const answers: Readonly<Record<string, (method: string, args: Args) => CelValue | undefined>> = {
    resource: (method, args) => resourceAnswer(world, method, args, policyNamespace),
    image: (_, [reference]) => (given && typeof reference === 'string' ? imageOf(given, reference) : undefined),
    globalContext: (_, [name, projection]) =>
      given && typeof name === 'string' ? globalValue(given, name, projection) : undefined,
    http: (method, [url]) =>
      given && typeof url === 'string' ? responseOf(given, method.toUpperCase(), url) : undefined,
  }
  return new Map(Object.entries(answers).map(([name, answer]) => [name, new OutsideContext(name, answer)]))
}

/** `get` and `list`. The expressions of a policy in a namespace do not name the namespace. */
function resourceAnswer(world: AdmissionWorld, written: string, args: Args, policyNamespace: string) {
  const method = written.toLowerCase()
  if (method !== 'get' && method !== 'list') return undefined
  const texts = args.filter(arg => typeof arg === 'string')
  const [apiVersion = '', resource = ''] = texts
  const rest = policyNamespace === '' ? texts.slice(2) : [policyNamespace, ...texts.slice(2)]
  const [namespace = '', name = ''] = rest
  if (texts.length !== args.length || rest.length !== (method === 'get' ? 2 : 1)) return undefined
  const query = { apiVersion, resource, namespace, name }
  if (world.given) return givenAnswer(world, world.given, query)
  const found = storedObjects(world, query)
  if (typeof found === 'string') throw new CelUnknownError(`resource.${written}: ${found}`)
  return objectValueIn(world, found[0])
}

function givenAnswer(world: AdmissionWorld, given: GivenInputs, query: StoredQuery): CelValue {
  const ofKind = selectObjects(given.resources, { ...query, namespace: '', name: '' }, given.resourceOf)
  const found = selectObjects(ofKind, query, given.resourceOf).map(object => objectValueIn(world, object))
  if (query.name !== '') return found[0] ?? null
  if (ofKind.length === 0) throw new CelError(`failed to list resource: ${query.resource} resource not found`)
  return new CelMap(new Map([['sitems', ['items', found]]]))
}

function imageOf(given: GivenInputs, reference: string): CelValue {
  const metadata = given.image(reference)
  if (metadata === undefined) throw new CelError(`image data for ${reference} not found in the context`)
  return fromJson(metadata)
}

function globalValue(given: GivenInputs, name: string, projection: CelValue | undefined): CelValue {
  const content = given.globalContext(name)
  if (content === undefined) return null
  const value = fromJson(content)
  if (typeof projection !== 'string' || projection === '') return value
  const found = value instanceof CelMap ? value.entries.get(`s${projection}`)?.[1] : undefined
  if (found === undefined) throw new CelError(`projection ${projection} not found in global context entry ${name}`)
  return found
}

function responseOf(given: GivenInputs, method: string, url: string): CelValue | undefined {
  const response = given.response(method, url)
  return response && fromJson({ body: response.body, statusCode: response.status })
}
