import { bufferOf, readUnlessLarge, type Tree, type TreeEntry } from '../git/tree.ts'
import { KUSTOMIZE_GROUP, OPERATOR_GROUP, SOURCE_GROUP } from './flux-kinds.ts'

/** What searches through all files of a repository look for, below what each has in common: most files have none of it. */
const WORDS = {
  sops: ['sops'],
  'fluxcd.': [KUSTOMIZE_GROUP, SOURCE_GROUP, OPERATOR_GROUP],
  'instance:': ['instance:', 'sync:', 'url:', 'path:'],
} as const

/** The size of a file, and which of these words it contains. */
interface Glance {
  readonly size: number
  readonly words: ReadonlySet<(typeof WORDS)[keyof typeof WORDS][number]>
}

/** By the id of a content: most files are those of the commit before, and contain none of the words. */
const glances = new Map<string, Glance>()
const MAX_GLANCES = 200_000
const NO_WORDS: Glance['words'] = new Set()

/** A first look at a file, for a search through all files; undefined for one above the size limit. */
export function glance(tree: Tree, { path, id }: TreeEntry): Glance | undefined {
  const known = glances.get(id)
  if (known) return known
  const bytes = readUnlessLarge(tree, path)
  if (!bytes) return undefined
  const text = bufferOf(bytes)
  const words = Object.entries(WORDS).flatMap(([part, all]) =>
    text.includes(part) ? all.filter(word => text.includes(word)) : [],
  )
  const found = { size: bytes.length, words: words.length === 0 ? NO_WORDS : new Set(words) }
  if (glances.size >= MAX_GLANCES) glances.clear()
  if (id !== '') glances.set(id, found)
  return found
}
