import { BailiwickError } from '../../errors.ts'
import type { Node } from '../node.ts'
import type { FileName } from './decode-text.ts'
import { parseDocuments } from './parse-documents.ts'

/** The documents of a file; undefined where it cannot be read, for callers to whom that is not an error of their own. */
export function readableDocuments(file: FileName, bytes: Uint8Array): readonly Node[] | undefined {
  try {
    return parseDocuments(file, bytes)
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}
