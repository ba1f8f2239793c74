import { asUtf8 } from '../base/encoding.ts'
import { bufferOf, readUnlessLarge, type Tree, type TreeEntry } from '../git/tree.ts'
import { KUSTOMIZE_GROUP, OPERATOR_GROUP, SOURCE_GROUP } from './flux-kinds.ts'

/** What searches through all files of a repository look for, so that one look at a file answers each of them. */
interface Glance {
  readonly size: number
  /** It mentions SOPS. */
  readonly sops: boolean
  /** It mentions the group of Flux's Kustomization. */
  readonly kustomization: boolean
  /** It may hold what a cluster starts from: objects of Flux, or values of the chart flux-instance, which name no API. */
  readonly root: boolean
}

const GROUPS = [KUSTOMIZE_GROUP, SOURCE_GROUP, OPERATOR_GROUP]
const VALUES = ['instance:', 'sync:', 'url:', 'path:']

/** By the id of a content: most files are those of the commit before. */
const glances = new Map<string, Glance>()
const MAX_GLANCES = 200_000

/** A first look at a file, for a search through all files; undefined for one above the size limit. */
export function glance(tree: Tree, { path, id }: TreeEntry): Glance | undefined {
  const known = glances.get(id)
  if (known) return known
  const bytes = readUnlessLarge(tree, path)
  if (!bytes) return undefined
  const text = bufferOf(asUtf8(bytes))
  // most files have nothing of what the groups have in common
  const groups = text.includes('fluxcd.') ? GROUPS.filter(group => text.includes(group)) : []
  const found = {
    size: bytes.length,
    sops: text.includes('sops'),
    kustomization: groups.includes(KUSTOMIZE_GROUP),
    root: groups.length > 0 || VALUES.every(word => text.includes(word)),
  }
  if (glances.size >= MAX_GLANCES) glances.clear()
  if (id !== '') glances.set(id, found)
  return found
}
