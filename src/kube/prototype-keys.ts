import type { Origin } from '../origin.ts'
import type { Node, Path } from './node.ts'

/** A key that means something to JavaScript, wherever it stands in a file. */
export interface PrototypeKey {
  readonly path: Path
  readonly origin: Origin
}

/** Whether a text could hold such a key at all: most have none, and need no walk. */
export const mayHavePrototypeKeys = (text: string): boolean =>
  text.includes('__proto__') || (text.includes('constructor') && text.includes('prototype'))

/** `__proto__`, and `constructor` where `prototype` is looked up in it: by itself that is an ordinary word. */
export function isPrototypeKey(key: string, value: Node): boolean {
  return key === '__proto__' || (key === 'constructor' && value.type === 'map' && value.fields.has('prototype'))
}

/** Such keys of a document. */
export function prototypeKeys(root: Node): PrototypeKey[] {
  const found: PrototypeKey[] = []
  const path: (string | number)[] = []
  const below = (step: string | number, node: Node): void => {
    path.push(step)
    visit(node)
    path.pop()
  }
  const visit = (node: Node): void => {
    if (node.type === 'scalar') return
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) below(index, item)
      return
    }
    for (const [key, { key: origin, value }] of node.fields) {
      if (isPrototypeKey(key, value)) found.push({ path: [...path, key], origin })
      below(key, value)
    }
  }
  visit(root)
  return found
}
