import { BailiwickError } from '../errors.ts'
import { probably } from '../message/closest.ts'
import { visible } from '../message/visible.ts'
import type { Node } from './node.ts'

/**
 * Throws `config` for the first key of a map that is none of `known`, at the line of the key, with the one that was probably meant.
 * `place`: where the map is in its file, '' for the whole file. What is not a map is left to the reader of its fields.
 */
export function refuseUnknownKeys(node: Node | undefined, place: string, known: readonly string[]): void {
  if (node?.type !== 'map') return
  for (const [key, field] of node.fields) {
    if (known.includes(key)) continue
    const meant = probably(key, known)
    const what = JSON.stringify(visible(place === '' ? key : `${place}.${key}`, 120))
    throw new BailiwickError('config', `${what} is an unknown key. Allowed: ${known.join(', ')}`, {
      origin: field.key,
      fix: meant === undefined ? 'Remove it, or write one of the allowed keys.' : `Did you mean ${meant}?`,
    })
  }
}
