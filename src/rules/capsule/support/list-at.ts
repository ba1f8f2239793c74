import { at, itemsOf, type Node, type Path } from '../../../kube/node.ts'

/** Items of the list at a path; none where there is no list. */
export function listAt(node: Node | undefined, path: Path): readonly Node[] {
  return itemsOf(at(node, path))
}

/** The texts in the list at a path. */
export function textsAt(node: Node | undefined, path: Path): string[] {
  return listAt(node, path).flatMap(item => (item.type === 'scalar' && item.value !== null ? [String(item.value)] : []))
}
