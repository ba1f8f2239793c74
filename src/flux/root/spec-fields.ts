import { BailiwickError } from '../../errors.ts'
import { at, type Field, type MapNode, type Node, originAt, type Path, type ScalarNode } from '../../kube/node.ts'

/** A text that nothing can take for anything else. */
export type TextNode = ScalarNode & { readonly value: string }

/** A list of the spec; absent: none. Throws `flux-invalid`, also for null: the API server takes neither. */
export function specList(root: MapNode, path: Path): readonly Node[] {
  const node = at(root, path)
  if (node === undefined) return []
  return node.type === 'list' ? node.items : wrongType(root, path, 'a list')
}

/** A text of the spec, as the node it is; absent: undefined. Throws `flux-invalid`. */
export function specText(root: MapNode, path: Path): TextNode | undefined {
  const node = at(root, path)
  if (node === undefined) return undefined
  if (node.type === 'scalar' && typeof node.value === 'string') return { ...node, value: node.value, quoted: true }
  return wrongType(root, path, 'a string')
}

/** A list of texts of the spec, as nodes. Throws `flux-invalid`. */
export function specTexts(root: MapNode, path: Path): TextNode[] {
  return specList(root, path).map((_item, index) => specText(root, [...path, index])!)
}

/**
 * An object in the spec that has no other fields than the texts named by `texts` and the `others`. Throws `flux-invalid`.
 */
export function specObject(root: MapNode, path: Path, texts: readonly string[], others: readonly string[] = []) {
  const node = at(root, path)
  if (node?.type !== 'map') return wrongType(root, path, 'an object')
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    if (texts.includes(key)) fields.set(key, { ...field, value: specText(root, [...path, key])! })
    else if (others.includes(key)) fields.set(key, field)
    else {
      const message = `${shown(path)}: the API server rejects the field ${JSON.stringify(key)}`
      const fix = `Remove the field, or use one of ${[...texts, ...others].join(', ')}.`
      throw new BailiwickError('flux-invalid', message, { origin: field.key, fix })
    }
  }
  return { ...node, fields }
}

/** Throws `flux-invalid` for a field of another type than the API has. */
export function wrongType(root: MapNode, path: Path, allowed: string): never {
  const message = `${shown(path)}: the API server rejects this value. Allowed: ${allowed}`
  throw new BailiwickError('flux-invalid', message, {
    origin: originAt(root, path),
    fix: `Set ${shown(path)} to ${allowed}.`,
  })
}

const shown = (path: Path) => path.map(step => (typeof step === 'number' ? `[${step}]` : step)).join('.')
