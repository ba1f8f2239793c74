import { at, type Node, type Path } from '../../../kube/node.ts'

/** The paths below `root` that a pattern means, where something is; `*` is each item of a list. */
export function everyPath(root: Node, pattern: Path): Path[] {
  const star = pattern.indexOf('*')
  if (star < 0) return at(root, pattern) ? [pattern] : []
  const head = pattern.slice(0, star)
  const list = at(root, head)
  if (list?.type !== 'list') return []
  const tail = pattern.slice(star + 1)
  return list.items.flatMap((item, index) => everyPath(item, tail).map(path => [...head, index, ...path]))
}
