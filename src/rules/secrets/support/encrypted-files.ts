import { BailiwickError } from '../../../errors.ts'
import { readUnlessLarge, type Tree } from '../../../git/tree.ts'
import { at, type Node, stringAt } from '../../../kube/node.ts'
import { readableDocuments } from '../../../kube/yaml/readable-documents.ts'
import { message, part } from '../../../message/message.ts'
import { readFlatFile } from '../../../sops/flat-file.ts'
import { type Recipients, recipientsOf } from './sops-recipients.ts'

/** What is parsed of one repository: files that speak of SOPS. */
const MAX_BYTES = 32 * 1024 * 1024
const STRUCTURED = /\.(?:ya?ml|json|dockerconfigjson)$/i
const FLAT = /\.(?:env|ini)$/

/** A document that SOPS encrypted. */
export interface EncryptedDocument {
  readonly file: string
  readonly root: Node
  readonly recipients: Recipients
  /** `<kind>/<namespace>/<name>` of a manifest; '' for another document. */
  readonly id: string
}

/** What SOPS encrypted in a tree, YAML, JSON, dotenv and INI, whether anybody renders it or not. Throws `render-limits` for too much of it. */
export function* encryptedDocuments(tree: Tree, repository: string): Iterable<EncryptedDocument> {
  const open = ['']
  let left = MAX_BYTES
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const entry of tree.list(directory)) {
      if (entry.type === 'directory') open.push(entry.path)
      if (entry.type !== 'file' || !(STRUCTURED.test(entry.path) || FLAT.test(entry.path))) continue
      const bytes = readUnlessLarge(tree, entry.path)
      if (!bytes || !speaksOfSops(bytes)) continue
      left -= bytes.length
      if (left < 0) throw tooMuch(repository, entry.path)
      yield* documentsOf(tree, repository, entry.path)
    }
  }
}

/** The encrypted documents of one file; none where it is none, or cannot be read. */
export function documentsOf(tree: Tree, repository: string, file: string): EncryptedDocument[] {
  return allDocuments(tree, repository, file).flatMap(root => {
    const block = at(root, ['sops'])
    if (block?.type !== 'map') return []
    return [{ file, root, recipients: recipientsOf(block), id: idOf(root) }]
  })
}

/** Every document of a file that SOPS encrypted: one without a block of SOPS was not there when SOPS wrote the file. */
export function allDocuments(tree: Tree, repository: string, file: string): readonly Node[] {
  if (tree.entry(file)?.type !== 'file') return []
  const bytes = tree.read(file)
  if (!speaksOfSops(bytes)) return []
  if (!FLAT.test(file)) return readableDocuments({ repository, path: file }, bytes) ?? []
  const root = readFlatFile({ repository, file }, Buffer.from(bytes).toString('utf8'))
  return root ? [root] : []
}

const speaksOfSops = (bytes: Uint8Array): boolean => Buffer.from(bytes).includes('sops')

function tooMuch(repository: string, file: string): BailiwickError {
  const problem = message`more than ${MAX_BYTES / 1024 / 1024} MiB of SOPS-encrypted files: ${part('path', file)} and later files are not read`
  const origin = { repository, file, line: 1, column: 1 }
  return new BailiwickError('render-limits', problem, {
    origin,
    fix: message`Move large encrypted files to another repository.`,
  })
}

function idOf(root: Node): string {
  const parts = [['kind'], ['metadata', 'namespace'], ['metadata', 'name']].map(path => stringAt(root, path) ?? '')
  return parts[2] ? parts.join('/') : ''
}
