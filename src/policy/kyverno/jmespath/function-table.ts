import { ARITHMETIC } from './arithmetic-functions.ts'
import type { JmespathFunction } from './jmespath-function.ts'
import { LIST_FUNCTIONS } from './list-functions.ts'
import { OBJECT_FUNCTIONS } from './object-functions.ts'
import { TEXT_FUNCTIONS } from './text-functions.ts'
import { TIME_FUNCTIONS } from './time-functions.ts'

/** Functions that are not supported, with the reason. */
const NOT_EVALUATED = {
  random: 'random() has another value each time',
  x509_decode: 'x509_decode() is not supported',
}

/** The functions of JMESPath and Kyverno's additions (pkg/engine/jmespath). A text is the reason why a function is not supported. */
export const FUNCTIONS: ReadonlyMap<string, JmespathFunction | string> = new Map<string, JmespathFunction | string>([
  ...Object.entries(LIST_FUNCTIONS),
  ...Object.entries(OBJECT_FUNCTIONS),
  ...Object.entries(TEXT_FUNCTIONS),
  ...Object.entries(ARITHMETIC),
  ...Object.entries(TIME_FUNCTIONS),
  ...Object.entries(NOT_EVALUATED),
])
