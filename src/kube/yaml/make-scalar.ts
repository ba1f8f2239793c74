import type { Origin } from '../../origin.ts'
import type { ScalarNode } from '../node.ts'
import { TAB } from './characters.ts'
import { refuseAmbiguous } from './refuse-yaml.ts'
import { resolvePlain } from './resolve-scalar.ts'
import { LITERAL, PLAIN } from './token.ts'

/**
 * The scalar that a plain text stands for. Throws `yaml-ambiguous` for one that readers take for different values; inside
 * brackets (`flow`) also for times, which kustomize writes back in quotes.
 */
export function plainScalar(text: string, flow: boolean, origin: Origin): ScalarNode {
  const value = resolvePlain(text)
  if (value === text) return { type: 'scalar', value, origin }
  if (flow && text.includes(':')) refuseAmbiguous('a time inside brackets', origin)
  if (value === undefined) refuseAmbiguous('a number or date that not all of them know', origin)
  return String(value) === text ? { type: 'scalar', value, origin } : { type: 'scalar', value, origin, text }
}

/** The scalar of a quoted text (or one tagged as text) or of a text block, `indent` spaces before each of its lines. */
export function textScalar(kind: number, value: string, indent: number, origin: Origin): ScalarNode {
  if (kind < LITERAL) return { type: 'scalar', value, origin, quoted: true }
  // kustomize writes it without saying how far it is indented, and then fails to read it
  if (value.startsWith('\t')) refuseAmbiguous('a text block that starts with a tab', origin)
  if (kind !== LITERAL) return { type: 'scalar', value, origin, style: 'folded' }
  return { type: 'scalar', value, origin, style: 'literal', indent: value.trim() === '' ? 0 : indent }
}

/** A value that is not there: null, and written as nothing. */
export function absentScalar(origin: Origin): ScalarNode {
  return { type: 'scalar', value: null, origin, text: '' }
}

/** Whether a text needs quotes: without them YAML reads it as a merge key, or as something else than a text. */
export function isSpecialText(text: string): boolean {
  return resolvePlain(text) !== text || text === '<<' || (text.charCodeAt(0) < 0x3a && TIME.test(text))
}

/** Whether a key stays what it is when kustomize writes an object as text and reads it back; most do. */
export function isOrdinaryKey(key: string): boolean {
  return key.length <= 500 && key.charCodeAt(0) !== TAB && !isSpecialText(key)
}

/** The same of a value. */
export function isOrdinaryScalar({ value, style, untyped }: ScalarNode): boolean {
  return style !== 'folded' && !untyped && (typeof value !== 'string' || value.charCodeAt(0) !== TAB)
}

/** As which a time stays the text that it was. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[-+]\d\d:\d\d)$/

/** Whether a scalar is text for every reader when it stands as a key. */
export function isTextKey(kind: number, text: string): boolean {
  return kind !== PLAIN || typeof resolvePlain(text) === 'string'
}
