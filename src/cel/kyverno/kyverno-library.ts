import { CelError, CelUnknownError } from '../cel-error.ts'
import { FunctionLibrary, type FunctionTable } from '../function-library.ts'
import { isKnownFunction } from '../function-names.ts'
import { ADDRESSES } from '../kubernetes/addresses.ts'
import { FORMAT_FUNCTIONS } from '../kubernetes/formats.ts'
import { MAX_LINKS } from '../kubernetes/kubernetes-library.ts'
import { LISTS } from '../kubernetes/lists.ts'
import { OR_VALUE } from '../kubernetes/or-value.ts'
import { QUANTITY } from '../kubernetes/quantity.ts'
import { SEMVER_FUNCTIONS } from '../kubernetes/semver.ts'
import { TEXTS } from '../kubernetes/texts.ts'
import { TIMES } from '../kubernetes/times-of.ts'
import { URLS } from '../kubernetes/urls.ts'
import { CelMap, type CelValue, isList } from '../values.ts'
import { DOCUMENTS } from './documents.ts'
import { IMAGES } from './images.ts'
import { MATH } from './math.ts'
import { MOMENTS } from './moments.ts'
import { OUTSIDE } from './outside-context.ts'
import { REGEX } from './regex.ts'

/** Functions whose result depends on a clock, on randomness, or on formats that are not read here. */
const NOT_EVALUATED: FunctionTable = {
  functions: Object.fromEntries(
    [
      ['time.now', 'reads the clock'],
      ['random', 'is random'],
      ['random.random', 'is random'],
      ['x509.decode', 'is not supported'],
      ['gzip.compress', 'is not supported'],
      ['gzip.decompress', 'is not supported'],
      ['json.encode', 'is not supported'],
    ].map(([name, why]) => [
      name!,
      (): never => {
        throw new CelUnknownError(`${name} ${why}`)
      },
    ]),
  ),
}

const USERS: FunctionTable = {
  functions: {
    parseServiceAccount: accountOf,
    'user.parseServiceAccount': accountOf,
  },
}

function accountOf([user]: readonly CelValue[]): CelValue | undefined {
  if (typeof user !== 'string') return undefined
  const [, namespace = '', name = ''] = /^system:serviceaccount:([^:]*):(.*)$/s.exec(user) ?? []
  return mapOf([
    ['Namespace', namespace],
    ['Name', name],
  ])
}

const TRANSFORMS: FunctionTable = {
  functions: Object.fromEntries(['listObjToMap', 'transform.listObjToMap'].map(name => [name, listObjectsToMap])),
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
    ...[LISTS, TEXTS, URLS, ADDRESSES, QUANTITY, SEMVER_FUNCTIONS, FORMAT_FUNCTIONS, TIMES, OR_VALUE],
    ...[IMAGES, OUTSIDE, NOT_EVALUATED, USERS, TRANSFORMS, MATH, DOCUMENTS, MOMENTS, REGEX],
  ],
  isKnownFunction,
  MAX_LINKS,
)
