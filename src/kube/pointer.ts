import { createHash } from 'node:crypto'
import { at, canonical, type Node, type Path, stringAt } from './node.ts'

/** JSON pointer (RFC 6901) of a path. */
export function pointer(path: Path): string {
  return path.map(step => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/**
 * The path as it stays when a list is reordered: an item of a list is named by what identifies it (kind, namespace,
 * name), or by the hash of its content, never by its place.
 */
export function stablePath(root: Node, path: Path): string {
  const steps = path.map((step, depth) => {
    if (typeof step !== 'number') return step
    const item = at(root, path.slice(0, depth + 1))
    if (!item) return '[]'
    const names = ['kind', 'namespace', 'name'].map(key => stringAt(item, [key]) ?? '')
    if (names[2]) return `[${names.join(',')}]`
    return `[#${createHash('sha256').update(canonical(item)).digest('hex').slice(0, 16)}]`
  })
  return pointer(steps)
}
