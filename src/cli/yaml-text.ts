import { Document, type Scalar, visit } from 'yaml'
import type { Exact } from './exact-json.ts'

/** Characters on which YAML readers disagree, or fail, unless they are escaped. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/
const EVERY_UNSAFE = new RegExp(UNSAFE, 'g')

/** Documents as YAML that every reader, old ones too, reads alike; separated by `---`. */
export function yamlText(documents: readonly Exact[]): string {
  return documents.map(oneDocument).join('---\n')
}

function oneDocument(value: Exact): string {
  const document = new Document(value, { version: '1.1' })
  visit(document, { Scalar: (_key, scalar) => quoteUnsafe(scalar) })
  // what stands in double quotes may be written as an escape, and nothing unsafe stands outside of them now
  return document
    .toString({ lineWidth: 0 })
    .replace(EVERY_UNSAFE, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function quoteUnsafe(scalar: Scalar): void {
  if (typeof scalar.value === 'string' && UNSAFE.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
}
