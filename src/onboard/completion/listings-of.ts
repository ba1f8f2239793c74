import type { Tree } from '../../git/tree.ts'
import { joinPath } from '../../kustomize/paths/resolve-path.ts'
import { addToList, readKustomization } from '../edit-kustomization.ts'
import { relativePath } from '../relative-path.ts'
import { kustomizationFile, type TenantLayout } from '../tenant-layout.ts'
import { type CompletionFile, editOf, textOf } from './completion-file.ts'

/** A kustomization that could list a tenant. */
interface Choice {
  readonly cluster: string
  readonly entry: string
  readonly edit: CompletionFile
}

/** What is missing in the kustomizations that list tenants. */
export interface Listings {
  readonly missing: readonly string[]
  readonly files: readonly CompletionFile[]
  /** Not empty: it is not clear which of them should list it. */
  readonly choices: readonly Choice[]
}

/**
 * The entries of a tenant that no cluster lists. A tenant that some cluster lists is complete: on which clusters it lives is
 * for people to say.
 */
export function listingsOf(after: Tree, layouts: readonly TenantLayout[], tenant: string, cluster?: string): Listings {
  const places = layouts.flatMap(({ cluster, overlay, base }) => {
    const file = kustomizationFile(after, overlay)
    const folder = base === '' ? tenant : `${base}/${tenant}`
    return file === undefined ? [] : [{ cluster, overlay, file, folder }]
  })
  if (places.some(place => isListed(after, place))) return NONE
  const named = places.filter(place => place.cluster === cluster)
  const patched = places.filter(({ overlay }) => after.entry(`${overlay}/${tenant}-patch.yaml`) !== undefined)
  const [chosen] = [named, patched, places.length === 1 ? places : []].filter(({ length }) => length > 0)
  const edits = (chosen ?? places).map(({ cluster, overlay, file, folder }) => {
    const entry = relativePath(overlay, folder)
    const old = textOf(after, file)
    return { cluster, entry, edit: editOf(file, old, addToList({ path: file, text: old }, 'resources', entry)) }
  })
  if (!chosen) return { ...NONE, choices: edits }
  const missing = edits.map(({ entry, edit }) => `${entry} in ${edit.path}`)
  return { missing, files: edits.map(({ edit }) => edit), choices: [] }
}

const NONE: Listings = { missing: [], files: [], choices: [] }

function isListed(tree: Tree, { overlay, file, folder }: { overlay: string; file: string; folder: string }): boolean {
  const { resources } = readKustomization({ path: file, text: textOf(tree, file) })
  const items = Array.isArray(resources) ? (resources as unknown[]) : []
  return items.some(item => typeof item === 'string' && joinPath(overlay, item)?.join('/') === folder)
}
