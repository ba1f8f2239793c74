import type { Node, Path, ScalarValue } from '../kube/node.ts'
import type { Problem } from './model/problem.ts'
import { writtenAs } from './model/written-as.ts'
import type { Scalar } from './types-table.ts'

// powers of two are exact as numbers, and compare exactly with integers beyond 2^53
const INT32 = 2 ** 31
const INT64 = 2 ** 63

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const QUANTITY = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+|[KMGTPE]i|[numkMGTPE])?$/
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

/** Whether a value can be read as this scalar. */
export function fitsScalar(node: Node, scalar: Scalar): boolean {
  if (scalar === 'any') return true
  if (node.type !== 'scalar') return false
  const { value } = node
  switch (scalar) {
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'number':
      return isNumber(value)
    case 'int32':
    case 'int64':
      return isInteger(value, scalar)
    case 'int-or-string':
      return typeof value === 'string' || isInteger(value, 'int32')
    case 'quantity':
      return isNumber(value) || (typeof value === 'string' && QUANTITY.test(value))
    case 'time':
      return typeof value === 'string' && RFC3339.test(value)
    case 'bytes':
      return typeof value === 'string' && BASE64.test(value.replaceAll(/[\r\n]/g, ''))
  }
}

/** Texts of another form cannot be read as these. */
const FORMATS: readonly Scalar[] = ['quantity', 'time', 'bytes']

/** Why a value that does not fit cannot be read as this scalar. */
export function scalarProblem(node: Node, scalar: Scalar, path: Path): Problem {
  const allowed = ALLOWED[scalar]
  return FORMATS.includes(scalar) && node.type === 'scalar' && typeof node.value === 'string'
    ? { kind: 'bad-format', path, allowed, found: 'text of another form' }
    : { kind: 'wrong-type', path, allowed, found: writtenAs(node) }
}

const ALLOWED: Readonly<Record<Scalar, string>> = {
  string: 'a string, in quotes',
  boolean: 'true or false',
  number: 'a number',
  int32: 'a whole number of 32 bits',
  int64: 'a whole number of 64 bits',
  'int-or-string': 'a whole number of 32 bits, or a string',
  quantity: 'a quantity such as 500m, 2 or 1Gi',
  time: 'a time such as 2026-01-31T12:00:00Z',
  bytes: 'base64',
  any: 'any value',
}

const isNumber = (value: ScalarValue): boolean => typeof value === 'number' || typeof value === 'bigint'

function isInteger(value: ScalarValue, scalar: 'int32' | 'int64'): boolean {
  if (typeof value !== 'number' && typeof value !== 'bigint') return false
  if (typeof value === 'number' && !Number.isInteger(value)) return false
  const limit = scalar === 'int32' ? INT32 : INT64
  return -limit <= value && value < limit
}
