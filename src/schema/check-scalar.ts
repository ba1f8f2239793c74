import type { Node, Path, ScalarNode } from '../kube/node.ts'
import type { Problem } from './model/problem.ts'
import type { Scalar } from './types-table.ts'
import { writtenAs } from './written-as.ts'

const INT32 = 2n ** 31n
const INT64 = 2n ** 63n

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const QUANTITY = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+|[KMGTPE]i|[numkMGTPE])?$/
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

/** Why a value cannot be read as this scalar; undefined where it can. */
export function scalarProblem(node: Node, scalar: Scalar, path: Path): Problem | undefined {
  if (scalar === 'any') return undefined
  const wrong = (allowed: string, found = writtenAs(node)): Problem => ({ kind: 'wrong-type', path, allowed, found })
  if (node.type !== 'scalar') return wrong(ALLOWED[scalar])
  const { value } = node
  const bad = (allowed: string): Problem => ({ kind: 'bad-format', path, allowed, found: 'text of another form' })
  switch (scalar) {
    case 'string':
      return typeof value === 'string' ? undefined : wrong(ALLOWED.string)
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrong(ALLOWED.boolean)
    case 'number':
      return isNumber(node) ? undefined : wrong(ALLOWED.number)
    case 'int32':
    case 'int64':
      return isInteger(node, scalar === 'int32' ? INT32 : INT64) ? undefined : wrong(ALLOWED[scalar])
    case 'int-or-string':
      return typeof value === 'string' || isInteger(node, INT32) ? undefined : wrong(ALLOWED[scalar])
    case 'quantity':
      if (isNumber(node)) return undefined
      if (typeof value !== 'string') return wrong(ALLOWED.quantity)
      return QUANTITY.test(value) ? undefined : bad(ALLOWED.quantity)
    case 'time':
      if (typeof value !== 'string') return wrong(ALLOWED.time)
      return RFC3339.test(value) ? undefined : bad(ALLOWED.time)
    case 'bytes':
      if (typeof value !== 'string') return wrong(ALLOWED.bytes)
      return BASE64.test(value.replaceAll(/[\r\n]/g, '')) ? undefined : bad(ALLOWED.bytes)
  }
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

const isNumber = ({ value }: ScalarNode): boolean => typeof value === 'number' || typeof value === 'bigint'

function isInteger({ value }: ScalarNode, limit: bigint): boolean {
  if (typeof value === 'bigint') return -limit <= value && value < limit
  if (typeof value !== 'number' || !Number.isInteger(value)) return false
  const exact = BigInt(value)
  return -limit <= exact && exact < limit
}
