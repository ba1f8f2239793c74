import { withElement, withField, withoutField } from '../../../kube/edit-node.ts'
import { at, type MapNode, type Node, type Path } from '../../../kube/node.ts'

/** An object in which the key at a path, also one that Flux drops, has another name; undefined where it has no value. */
export function renamedKey(root: MapNode, path: Path, name: string): MapNode | undefined {
  const [start, key] = [path.slice(0, -1), String(path.at(-1))]
  const parent = at(root, start)
  const value = parent?.type === 'map' ? (parent.fields.get(key) ?? parent.dropped?.get(key))?.value : undefined
  if (parent?.type !== 'map' || value === undefined) return undefined
  return replacedAt(root, start, withField(withoutKey(parent, key), name, value)) as MapNode
}

function withoutKey(map: MapNode, key: string): MapNode {
  const { dropped, ...rest } = withoutField(map, key)
  const left = new Map([...(dropped ?? [])].filter(([name]) => name !== key))
  return left.size > 0 ? { ...rest, dropped: left } : rest
}

function replacedAt(node: Node, [step, ...rest]: Path, value: Node): Node {
  if (step === undefined) return value
  const child = at(node, [step])
  if (!child) return node
  if (node.type === 'map') return withField(node, String(step), replacedAt(child, rest, value))
  return node.type === 'list' ? withElement(node, Number(step), replacedAt(child, rest, value)) : node
}
