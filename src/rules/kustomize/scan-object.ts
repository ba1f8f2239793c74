import type { MapNode, Node, Path, ScalarNode } from '../../kube/node.ts'

/** What several rules look for in every value of an object, found in one walk. */
export interface ObjectScan {
  /** Texts with `${`. */
  readonly templated: readonly { readonly path: Path; readonly text: string }[]
  /** Keys that mean something to JavaScript. */
  readonly prototypes: readonly Path[]
  /** Keys and values with characters beyond ASCII. */
  readonly foreign: readonly { readonly path: Path; readonly text: string; readonly isKey: boolean }[]
}

const scans = new WeakMap<MapNode, ObjectScan>()
const BEYOND_ASCII = /[^\0-\x7f]/
/** Texts are long only where they are content. */
const MAX_TEXT = 2_000
const MAX_FOUND = 50

/** Nodes never change, so that an object is walked once. */
export function scanObject(root: MapNode): ObjectScan {
  const known = scans.get(root)
  if (known) return known
  const scan = new Walker().walk(root)
  scans.set(root, scan)
  return scan
}

class Walker {
  private readonly path: (string | number)[] = []
  private readonly templated: { path: Path; text: string }[] = []
  private readonly prototypes: Path[] = []
  private readonly foreign: { path: Path; text: string; isKey: boolean }[] = []

  walk(root: MapNode): ObjectScan {
    this.node(root)
    return { templated: this.templated, prototypes: this.prototypes, foreign: this.foreign }
  }

  private node(node: Node): void {
    if (node.type === 'scalar') this.scalar(node)
    else if (node.type === 'list') for (const [index, item] of node.items.entries()) this.below(index, item)
    else {
      for (const [key, { value }] of node.fields) {
        if (isPrototype(key, value)) this.add(this.prototypes, [...this.path, key])
        if (BEYOND_ASCII.test(key)) this.add(this.foreign, { path: [...this.path, key], text: key, isKey: true })
        this.below(key, value)
      }
    }
  }

  private below(step: string | number, node: Node): void {
    this.path.push(step)
    this.node(node)
    this.path.pop()
  }

  private scalar({ value }: ScalarNode): void {
    if (typeof value !== 'string' || value.length > MAX_TEXT) return
    if (value.includes('${')) this.add(this.templated, { path: [...this.path], text: value })
    if (BEYOND_ASCII.test(value)) this.add(this.foreign, { path: [...this.path], text: value, isKey: false })
  }

  private add<T>(list: T[], item: T): void {
    if (list.length < MAX_FOUND) list.push(item)
  }
}

/** `constructor` is an ordinary word, unless `prototype` is looked up in it. */
function isPrototype(key: string, value: Node): boolean {
  if (key === '__proto__') return true
  return key === 'constructor' && value.type === 'map' && value.fields.has('prototype')
}
