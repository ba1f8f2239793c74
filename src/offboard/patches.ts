import { parseAllDocuments } from 'yaml'
import { parentOf } from '../fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../git/tree.ts'
import { readKustomization } from '../onboard/edit-kustomization.ts'
import { textAt } from './edited-tree.ts'
import { resolvePath } from './resolve-path.ts'

/** What a patch is applied to, where that is one object. */
export interface PatchTarget {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
}

/** A patch of a kustomization, by its place in its list. */
export interface ListedPatch {
  readonly key: string
  readonly index: number
  /** Path of its file in the tree; undefined for one that stands in the kustomization. */
  readonly file: string | undefined
  /** Undefined: any number of objects. */
  readonly targets: readonly PatchTarget[] | undefined
}

const LISTS = ['patches', 'patchesStrategicMerge', 'patchesJson6902'] as const
/** A name that is no pattern. */
const PLAIN = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/

/** The patches of a kustomization file. Throws `onboard-layout` for a file that is not plain. */
export function patchesOf(tree: Tree, path: string, text: string): ListedPatch[] {
  const data = readKustomization({ path, text })
  return LISTS.flatMap(key => {
    const list: readonly unknown[] = Array.isArray(data[key]) ? (data[key] as unknown[]) : []
    return list.map((item, index): ListedPatch => {
      const { path: named, patch, target } = fieldsOf(item)
      const file = typeof named === 'string' ? resolvePath(parentOf(path), named) : undefined
      const isFile = file !== undefined && tree.entry(file)?.type === 'file'
      const content = isFile ? textAt(tree, file) : patch
      const targets = target === undefined ? written(content) : selected(target)
      return { key, index, file: isFile ? file : undefined, targets }
    })
  })
}

/** The old list of strategic merge patches holds file names and texts. */
function fieldsOf(item: unknown): { path?: unknown; patch?: unknown; target?: unknown } {
  if (typeof item === 'string') return item.includes('\n') ? { patch: item } : { path: item }
  return item !== null && typeof item === 'object' ? item : {}
}

function selected(target: unknown): PatchTarget[] | undefined {
  if (target === null || typeof target !== 'object') return undefined
  const fields: Record<string, unknown> = { ...target }
  const { kind, name, namespace, labelSelector, annotationSelector } = fields
  if (labelSelector !== undefined || annotationSelector !== undefined) return undefined
  if (typeof kind !== 'string' || typeof name !== 'string' || !PLAIN.test(name)) return undefined
  return [{ kind, name, namespace: typeof namespace === 'string' ? namespace : undefined }]
}

function written(content: unknown): PatchTarget[] | undefined {
  if (typeof content !== 'string') return undefined
  const documents = parseAllDocuments(content)
  if (!Array.isArray(documents) || documents.some(({ errors }) => errors.length > 0)) return undefined
  const targets = documents.flatMap((document): (PatchTarget | undefined)[] => {
    const data: unknown = document.toJS({ maxAliasCount: 0 })
    if (data === null) return []
    const { kind, metadata } = data as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } }
    const { name, namespace } = metadata ?? {}
    if (typeof kind !== 'string' || typeof name !== 'string') return [undefined]
    return [{ kind, name, namespace: typeof namespace === 'string' ? namespace : undefined }]
  })
  return targets.every(one => one !== undefined) ? targets : undefined
}
