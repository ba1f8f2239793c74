import { BailiwickError } from '../errors.ts'
import { groupOf, type ObjectId } from '../kube/object.ts'

/** One applied object. `id` and `v` as Flux writes them; `uid` of the live object where this owner made or adopted it. */
export interface InventoryEntry {
  /** `<namespace>_<name>_<group>_<kind>`. */
  readonly id: string
  readonly v: string
  readonly uid?: string
}

const RBAC = 'rbac.authorization.k8s.io'

/**
 * Flux's id of an object (fluxcd/cli-utils object.ObjMetadata): `:` in the name of an RBAC object is written `__`.
 * Throws `cluster-invalid` for a name that could not be read back.
 */
export function entryOf(id: ObjectId): InventoryEntry {
  const group = groupOf(id.apiVersion)
  const name = group === RBAC ? id.name.replaceAll(':', '__') : id.name
  const entry = {
    id: `${id.namespace}_${name}_${group}_${id.kind}`,
    v: id.apiVersion.slice(id.apiVersion.indexOf('/') + 1),
  }
  const back = idOfEntry(entry)
  if (back.name === id.name && back.namespace === id.namespace && back.kind === id.kind) return entry
  throw new BailiwickError(
    'cluster-invalid',
    `an inventory cannot hold the name ${JSON.stringify(id.name)} of ${id.kind}`,
    {
      fix: 'Choose a name without "__".',
    },
  )
}

/** The object that an entry names. Throws `cluster-invalid` where the id is not of Flux's form. */
export function idOfEntry({ id, v }: Pick<InventoryEntry, 'id' | 'v'>): ObjectId {
  const parts = /^([^_]*)_(.+)_([^_]*)_([^_]+)$/s.exec(id)
  if (!parts || !v)
    throw new BailiwickError('cluster-invalid', `${JSON.stringify(id)} is not an id of an inventory entry`)
  const [, namespace, name, group, kind] = parts as unknown as [string, string, string, string, string]
  return {
    apiVersion: group ? `${group}/${v}` : v,
    kind,
    namespace,
    name: group === RBAC ? name.replaceAll('__', ':') : name,
  }
}

/** Entries of both lists, each id once; version and uid of the later list win. Sorted by id. */
export function unionEntries(...lists: readonly (readonly InventoryEntry[])[]): InventoryEntry[] {
  const found = new Map<string, InventoryEntry>()
  for (const entry of lists.flat()) found.set(entry.id, { ...found.get(entry.id), ...entry })
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}
