import type { Tree } from '../../git/tree.ts'
import type { ParsedFile } from '../../kube/yaml/parse-documents.ts'
import type { Kustomization } from '../fields/kustomization.ts'

/** A file that was parsed. */
export interface Kept {
  readonly id: string
  /** Which repository its origins name: the same tree may stand for several. */
  readonly repository: string
  readonly bytes: number
  readonly file: ParsedFile
  /** What the file says as a kustomization, once someone has read it as one. */
  kustomization?: Kustomization
}

/**
 * The files of a tree that were parsed already, by path; each counts only as long as its git id is the same. Nodes are
 * immutable, so whoever builds next may take them as they are.
 */
export class ParsedFiles {
  private readonly kept = new Map<string, Kept>()

  get(path: string, id: string, repository: string): Kept | undefined {
    const kept = this.kept.get(path)
    return kept?.id === id && kept.repository === repository ? kept : undefined
  }

  set(path: string, kept: Kept): void {
    this.kept.set(path, kept)
  }

  /** Forgets the files that are not in `tree` any more. */
  keepOnly(tree: Tree): void {
    for (const [path, { id }] of this.kept) if (tree.entry(path)?.id !== id) this.kept.delete(path)
  }
}

const known = new WeakMap<Tree, ParsedFiles>()

/** What was parsed of a tree; it lives as long as the tree does. */
export function parsedFilesOf(tree: Tree): ParsedFiles {
  let files = known.get(tree)
  if (!files) {
    files = new ParsedFiles()
    known.set(tree, files)
  }
  return files
}

/** Lets `tree` take what was parsed of `other`: a wrapper around it, or an earlier state of the same repository. */
export function shareParsed(tree: Tree, other: Tree): void {
  known.set(tree, parsedFilesOf(other))
}
