import type { Field, MapNode, Node, Path } from '../kube/node.ts'

/** A field of one document of a file, and where it is written. */
export interface FoundField {
  readonly document: number
  readonly path: Path
  readonly field: Field
  readonly parent: MapNode
}

interface Place {
  readonly line: number
  readonly column: number
}

/** The value of a JSON 6902 operation that writes a field of that name. */
function isPatchOf({ fields }: MapNode, key: string, name: string): boolean {
  const path = fields.get('path')?.value
  if (key !== 'value' || !fields.has('op') || path?.type !== 'scalar') return false
  return String(path.value).split('/').at(-1) === name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/**
 * Finds the field of that name at that place (the position of a scalar, else of its key, as in findings). Undefined if
 * there is none or several: a value repeated by an alias cannot be fixed in one place. The
 * `value` of a JSON 6902 operation is found by the field that the operation writes.
 */
export function findField(documents: readonly Node[], name: string, place: Place): FoundField | undefined {
  const found: FoundField[] = []
  const visit = (node: Node, document: number, path: Path): void => {
    if (node.type === 'scalar') return
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) visit(item, document, [...path, index])
      return
    }
    for (const [key, field] of node.fields) {
      const here = [...path, key]
      // a field that is dropped has no value, and is named by its key
      const stands = [field.key, ...(field.value.type === 'scalar' ? [field.value.origin] : [])]
      const isThere = stands.some(({ line, column }) => line === place.line && column === place.column)
      if (isThere && (key === name || isPatchOf(node, key, name))) {
        found.push({ document, path: here, field, parent: node })
      }
      visit(field.value, document, here)
    }
  }
  for (const [index, node] of documents.entries()) visit(node, index, [])
  return found.length === 1 ? found[0] : undefined
}
