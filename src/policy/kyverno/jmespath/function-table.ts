import { ARITHMETIC } from './arithmetic-functions.ts'
import type { JmespathFunction } from './jmespath-function.ts'
import { LIST_FUNCTIONS } from './list-functions.ts'
import { OBJECT_FUNCTIONS } from './object-functions.ts'
import { TEXT_FUNCTIONS } from './text-functions.ts'
import { TIME_FUNCTIONS } from './time-functions.ts'

/** What is not worked out, and why. */
const NOT_EVALUATED = {
  random: 'random() has another value each time',
  x509_decode: 'x509_decode() is not supported',
}

/** The functions of JMESPath, and those that Kyverno adds (pkg/engine/jmespath). A text: why one is not evaluated. */
export const FUNCTIONS: ReadonlyMap<string, JmespathFunction | string> = new Map<string, JmespathFunction | string>([
  ...Object.entries(LIST_FUNCTIONS),
  ...Object.entries(OBJECT_FUNCTIONS),
  ...Object.entries(TEXT_FUNCTIONS),
  ...Object.entries(ARITHMETIC),
  ...Object.entries(TIME_FUNCTIONS),
  ...Object.entries(NOT_EVALUATED),
])
