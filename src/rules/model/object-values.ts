import { at, itemsOf, type MapNode, type Node, type Path, type ScalarNode } from '../../kube/node.ts'

/** Whether a field has no content: null, '' or an empty list or map. */
export function isUnset(node: Node): boolean {
  if (node.type === 'list') return node.items.length === 0
  if (node.type === 'map') return node.fields.size === 0
  return node.value === null || node.value === ''
}

/** Whether a switch is off or not set; text that the API server would refuse counts as on. */
export function isOff(node: Node): boolean {
  return isUnset(node) || (node.type === 'scalar' && (node.value === false || node.value === 'false'))
}

/** Whether a number is zero, however it is written. */
export function isZero(node: Node): boolean {
  if (node.type !== 'scalar' || node.value === null || node.value === '' || typeof node.value === 'boolean')
    return false
  return Number(node.value) === 0
}

/** The text of a scalar; undefined for lists, maps and null. */
export function textOf(node: Node | undefined): string | undefined {
  return node?.type === 'scalar' && node.value !== null ? String(node.value) : undefined
}

/** A scalar of an object. */
interface PlacedScalar {
  readonly path: Path
  readonly node: ScalarNode
}

/** Every scalar below a node, with its path. */
export function* scalarsOf(root: Node, base: Path = []): Iterable<PlacedScalar> {
  const open: { readonly path: Path; readonly node: Node }[] = [{ path: base, node: root }]
  for (let here = open.pop(); here; here = open.pop()) {
    const { path, node } = here
    if (node.type === 'scalar') yield { path, node }
    else if (node.type === 'list')
      for (const [index, item] of node.items.entries()) open.push({ path: [...path, index], node: item })
    else for (const [key, { value }] of node.fields) open.push({ path: [...path, key], node: value })
  }
}

/** A map somewhere in an object. */
interface PlacedMap {
  readonly path: Path
  readonly node: MapNode
}

/** Every map below a node, itself included: custom kinds may keep their content anywhere. */
export function* everyMap(root: Node): Iterable<PlacedMap> {
  const open: { readonly path: Path; readonly node: Node }[] = [{ path: [], node: root }]
  for (let here = open.pop(); here; here = open.pop()) {
    const { path, node } = here
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) {
        if (item.type !== 'scalar') open.push({ path: [...path, index], node: item })
      }
    }
    if (node.type !== 'map') continue
    yield { path, node }
    for (const [key, { value }] of node.fields) {
      if (value.type !== 'scalar') open.push({ path: [...path, key], node: value })
    }
  }
}

/** The existing paths below `root` that a pattern matches; `*` is each item of a list. */
export function everyPath(root: Node, pattern: Path): Path[] {
  const star = pattern.indexOf('*')
  if (star < 0) return at(root, pattern) ? [pattern] : []
  const head = pattern.slice(0, star)
  const list = at(root, head)
  if (list?.type !== 'list') return []
  const tail = pattern.slice(star + 1)
  return list.items.flatMap((item, index) => everyPath(item, tail).map(path => [...head, index, ...path]))
}

/** Items of the list at a path; none where there is no list. */
export function listAt(node: Node | undefined, path: Path): readonly Node[] {
  return itemsOf(at(node, path))
}

/** The texts in the list at a path. */
export function textsAt(node: Node | undefined, path: Path): string[] {
  return listAt(node, path).flatMap(item => (item.type === 'scalar' && item.value !== null ? [String(item.value)] : []))
}
