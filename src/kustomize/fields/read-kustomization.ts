import type { MapNode, Node } from '../../kube/node.ts'
import { checkTexts } from '../resource/round-trip.ts'
import { checkForbidden } from './check-forbidden.ts'
import type { KustomizationField } from './field.ts'
import type { Kustomization } from './kustomization.ts'
import { invalid, refuseOtherFields } from './read-fields.ts'
import { FIELDS, type FieldValues, KNOWN_NAMES, OLDER_NAMES, READ_NAMES } from './registry.ts'
import { spellVersion } from './type-meta.ts'

/**
 * Reads a kustomization file as kustomize 5.8.1 would. Throws `kustomize-invalid` for what kustomize refuses, and
 * `kustomize-unsupported` with the field's line for what we do not know; with a `rule` where it is forbidden.
 */
export function readKustomization(file: string, directory: string, documents: readonly Node[]): Kustomization {
  const [written, second] = documents
  const start = { repository: '', file, line: 1, column: 1 }
  if (second) invalid(`${file}: more than one document`, second.origin)
  if (written?.type !== 'map') return invalid(`${file}: empty, or not a map`, written?.origin ?? start)
  const root = spellVersion(written)
  checkForbidden(root)
  checkTexts(root)
  refuseOtherFields(root, READ_NAMES, file, KNOWN_NAMES)
  const fields = Object.entries<KustomizationField<unknown>>(FIELDS).map(([name, field]) => [
    name,
    field.read(root, file),
  ])
  refuseEmpty(root, file)
  return { ...(Object.fromEntries(fields) as FieldValues), file, directory }
}

/** Throws `kustomize-invalid` where nothing is set. */
export function refuseEmpty(root: MapNode, file: string): void {
  const content = [...root.fields].filter(([name]) => name !== 'apiVersion' && name !== 'kind')
  if (!content.some(([name, field]) => isSet(name, field.value))) invalid(`${file}: no field is set`, root.origin)
}

/**
 * kustomize calls a file empty when nothing but null (or an empty text) is set; an empty list is something, unless it is
 * to be added to another field.
 */
function isSet(name: string, value: Node): boolean {
  if (value.type === 'list') return value.items.length > 0 || !OLDER_NAMES.includes(name)
  return value.type !== 'scalar' || (value.value !== null && value.value !== '')
}
