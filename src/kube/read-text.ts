import type { Node } from './node.ts'

/** A field of type string as the API server decodes it: absent and null are ''. Undefined where it would refuse the value. */
export function textOf(node: Node | undefined): string | undefined {
  if (node === undefined) return ''
  if (node.type !== 'scalar') return undefined
  if (node.value === null) return ''
  return typeof node.value === 'string' ? node.value : undefined
}

/** A field of type []string; as textOf. */
export function textsOf(node: Node | undefined): string[] | undefined {
  if (node === undefined || isNull(node)) return []
  if (node.type !== 'list') return undefined
  const texts: string[] = []
  for (const item of node.items) {
    const text = textOf(item)
    if (text === undefined) return undefined
    texts.push(text)
  }
  return texts
}

/** A field of type map[string]string; as textOf. */
export function textMapOf(node: Node | undefined): ReadonlyMap<string, string> | undefined {
  const texts = new Map<string, string>()
  if (node === undefined || isNull(node)) return texts
  if (node.type !== 'map') return undefined
  for (const [key, { value }] of node.fields) {
    const text = textOf(value)
    if (text === undefined) return undefined
    texts.set(key, text)
  }
  return texts
}

/** A field that is a list of T: each element by `read`. Undefined where one of them is refused. */
export function listOf<T>(node: Node | undefined, read: (item: Node) => T | undefined): T[] | undefined {
  if (node === undefined || isNull(node)) return []
  if (node.type !== 'list') return undefined
  const found: T[] = []
  for (const item of node.items) {
    const one = read(item)
    if (one === undefined) return undefined
    found.push(one)
  }
  return found
}

function isNull(node: Node): boolean {
  return node.type === 'scalar' && node.value === null
}
