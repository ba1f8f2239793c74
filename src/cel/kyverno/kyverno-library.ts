import { CelError, CelUnknownError } from '../cel-error.ts'
import { FunctionLibrary, type FunctionTable } from '../function-library.ts'
import { isKnownFunction } from '../function-names.ts'
import { ADDRESSES } from '../kubernetes/addresses.ts'
import { FORMAT_FUNCTIONS } from '../kubernetes/formats.ts'
import { MAX_LINKS } from '../kubernetes/kubernetes-library.ts'
import { LISTS } from '../kubernetes/lists.ts'
import { QUANTITY } from '../kubernetes/quantity.ts'
import { SEMVER_FUNCTIONS } from '../kubernetes/semver.ts'
import { TEXTS } from '../kubernetes/texts.ts'
import { TIMES } from '../kubernetes/times-of.ts'
import { URLS } from '../kubernetes/urls.ts'
import { CelMap, type CelValue, isList, LibraryValue, Optional } from '../values.ts'
import { IMAGES } from './images.ts'

/** Implements `resource.Get`. Returns the value of an object, or undefined where it is not known. */
export abstract class ResourceReader extends LibraryValue {
  readonly typeName = 'resource.Context'
  equals(other: LibraryValue): boolean {
    return this === other
  }
  abstract get(apiVersion: string, resource: string, namespace: string, name: string): CelValue | undefined
}

/** Functions whose result depends on a cluster, the network, a clock or randomness. */
const OUTSIDE = [
  ...['http.Get', 'http.Post', 'http.Client', 'http.get', 'http.post', 'http.client'],
  ...['globalContext.Get', 'globalContext.get', 'image.GetMetadata', 'image.getMetadata'],
  ...['time.now', 'random', 'random.random'],
]
const outside = (name: string) => (): never => {
  throw new CelUnknownError(`${name} needs information from outside the fleet`)
}

const RESOURCES: FunctionTable = {
  functions: Object.fromEntries(OUTSIDE.map(name => [name, outside(name)])),
  methods: {
    Get: resourceOf('resource.Get'),
    get: resourceOf('resource.get'),
    ...Object.fromEntries(['List', 'list', 'Post', 'post'].map(name => [name, outside(`resource.${name}`)])),
  },
}

function resourceOf(what: string) {
  return ([reader, ...args]: readonly CelValue[]): CelValue | undefined => {
    if (!(reader instanceof ResourceReader)) return undefined
    const texts = args.filter(arg => typeof arg === 'string')
    const [apiVersion = '', resource = '', namespace = '', name = ''] = texts
    const found = texts.length === 4 ? reader.get(apiVersion, resource, namespace, name) : undefined
    if (found === undefined) throw new CelUnknownError(`${what} asks for an object that the fleet does not show`)
    return found
  }
}

const USERS: FunctionTable = {
  functions: {
    parseServiceAccount: ([user]) => {
      if (typeof user !== 'string') return undefined
      const [, namespace = '', name = ''] = /^system:serviceaccount:([^:]*):(.*)$/s.exec(user) ?? []
      return mapOf([
        ['Namespace', namespace],
        ['Name', name],
      ])
    },
  },
}

const TRANSFORMS: FunctionTable = {
  functions: Object.fromEntries(['listObjToMap', 'transform.listObjToMap'].map(name => [name, listObjectsToMap])),
  methods: {
    // as before cel-go 0.28, `orValue` returns a value that is not optional unchanged
    orValue: ([first]) => (first === undefined || first instanceof Optional ? undefined : first),
  },
}

/** Zips two lists of maps into one map: keys from a field of the first list, values from a field of the second. */
function listObjectsToMap(args: readonly CelValue[]): CelValue | undefined {
  const [keys, values, keyField, valueField] = args
  if (keys === undefined || values === undefined || !isList(keys) || !isList(values)) return undefined
  if (typeof keyField !== 'string' || typeof valueField !== 'string') return undefined
  if (keys.length !== values.length) throw new CelError('both lists should have the same length')
  return mapOf(
    keys.map((key, index) => [textAt(key, keyField), fieldAt(values[index]!, valueField)] as [string, CelValue]),
  )
}

function fieldAt(value: CelValue, field: string): CelValue {
  const found = value instanceof CelMap ? value.entries.get(`s${field}`)?.[1] : undefined
  if (found === undefined) throw new CelError(`no such key: ${field}`)
  return found
}

function textAt(value: CelValue, field: string): string {
  const found = fieldAt(value, field)
  if (typeof found !== 'string') throw new CelError('no such overload')
  return found
}

const mapOf = (entries: readonly (readonly [string, CelValue])[]): CelMap =>
  new CelMap(new Map(entries.map(([key, value]) => [`s${key}`, [key, value]])))

/** CEL functions that Kyverno adds for its policies (kyverno/kyverno pkg/cel/compiler/env.go, pkg/cel/policies/vpol/compiler). */
export const kyvernoLibrary = new FunctionLibrary(
  [
    ...[LISTS, TEXTS, URLS, ADDRESSES, QUANTITY, SEMVER_FUNCTIONS, FORMAT_FUNCTIONS, TIMES],
    ...[IMAGES, RESOURCES, USERS, TRANSFORMS],
  ],
  isKnownFunction,
  MAX_LINKS,
)
