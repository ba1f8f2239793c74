import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/parse-documents.ts'
import { type Recipients, recipientsOf } from './sops-recipients.ts'

const MAX_BYTES = 1024 * 1024
const MAX_FILES = 20_000
const STRUCTURED = /\.(?:ya?ml|json)$/i

/** A document that SOPS encrypted. */
export interface EncryptedDocument {
  readonly file: string
  readonly root: Node
  readonly recipients: Recipients
  /** `<kind>/<namespace>/<name>` of a manifest; '' for another document. */
  readonly id: string
}

/** What SOPS encrypted in a tree, YAML and JSON, whether anybody renders it or not. */
export function* encryptedDocuments(tree: Tree, repository: string): Iterable<EncryptedDocument> {
  const open = ['']
  let count = 0
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const entry of tree.list(directory)) {
      if (entry.type === 'directory') open.push(entry.path)
      if (entry.type !== 'file' || !STRUCTURED.test(entry.path)) continue
      if (++count > MAX_FILES) return
      yield* documentsOf(tree, repository, entry.path)
    }
  }
}

/** The encrypted documents of one file; none where it is none, or cannot be read. */
export function documentsOf(tree: Tree, repository: string, file: string): EncryptedDocument[] {
  if (tree.entry(file)?.type !== 'file') return []
  const bytes = tree.read(file)
  if (bytes.length > MAX_BYTES || !Buffer.from(bytes).includes('sops')) return []
  try {
    return parseDocuments({ repository, path: file }, bytes).flatMap(root => {
      const block = at(root, ['sops'])
      if (block?.type !== 'map') return []
      return [{ file, root, recipients: recipientsOf(block), id: idOf(root) }]
    })
  } catch (error) {
    if (error instanceof BailiwickError) return []
    throw error
  }
}

function idOf(root: Node): string {
  const parts = [['kind'], ['metadata', 'namespace'], ['metadata', 'name']].map(path => stringAt(root, path) ?? '')
  return parts[2] ? parts.join('/') : ''
}
