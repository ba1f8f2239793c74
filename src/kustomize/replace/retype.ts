import { BailiwickError, type ErrorCode } from '../../errors.ts'
import { writtenText } from '../../kube/edit-node.ts'
import type { ScalarNode, ScalarValue } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Origin } from '../../origin.ts'
import { untyped } from './edit-path.ts'

/**
 * A scalar with another text: its type and its quotes stay, as kustomize leaves the tag of a YAML node. Throws
 * `code` at `cause` for a text that is no value of that type: where the object is written kustomize cannot read it back.
 */
export function retype(
  scalar: ScalarNode,
  text: string,
  origin: Origin,
  code: ErrorCode = 'kustomize-invalid',
  cause = origin,
): ScalarNode {
  if (scalar.untyped && !scalar.quoted && !scalar.style) return untyped(text, origin)
  const type = typeOf(scalar.value, writtenText(scalar), scalar.quoted || scalar.style !== undefined)
  if (type === 'text') {
    const { quoted, style } = scalar
    return { type: 'scalar', value: text, origin, ...(quoted ? { quoted } : {}), ...(style ? { style } : {}) }
  }
  const value = resolvePlain(text)
  const given = value === undefined ? undefined : typeOf(value, text, false)
  if (value === undefined || !(given === type || (type === 'fraction' && given === 'number'))) {
    const message = `replacements: a string would replace a ${type} at ${scalar.origin.file}:${scalar.origin.line}`
    throw new BailiwickError(code, message, { origin: cause, fix: 'Use a source value of the same type.' })
  }
  return { type: 'scalar', value, origin, ...(String(value) === text ? {} : { text }) }
}

type Type = 'text' | 'number' | 'fraction' | 'boolean' | 'null' | 'date'

function typeOf(value: ScalarValue, text: string, isText: boolean): Type {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'bigint') return 'number'
  // a plain text that is another value for JSON is a date
  if (typeof value === 'string') return isText || value === text || resolvePlain(text) !== value ? 'text' : 'date'
  const isWhole = /^[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0?[oO]?[0-9_]+)$/.test(text) && Number.isInteger(value)
  return isWhole ? 'number' : 'fraction'
}
