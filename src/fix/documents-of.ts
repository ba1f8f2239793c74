import { BailiwickError } from '../errors.ts'
import type { Node } from '../kube/node.ts'
import { parseText } from '../kube/yaml/parse-documents.ts'

/** The documents of a YAML file with their lines and columns; undefined if it cannot be read. */
export function documentsOf(text: string): readonly Node[] | undefined {
  try {
    return parseText(text, (line, column) => ({ repository: '', file: '', line, column })).documents
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}
