import { BailiwickError } from '../../errors.ts'
import { withElement, withField, withoutField } from '../../kube/edit-node.ts'
import { canonical, type ListNode, type MapNode, type Node } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { checkObjectSize } from '../build-budget.ts'

export interface Operation {
  readonly op: 'add' | 'replace' | 'remove' | 'move' | 'copy' | 'test'
  readonly path: readonly string[]
  readonly from?: readonly string[]
  readonly value?: Node
  readonly origin: Origin
}

/**
 * `root` under the operations of a JSON6902 patch, as evanphx/json-patch v4 applies them for kustomize. Throws
 * `kustomize-invalid` where an operation does not find its place.
 */
export function applyJsonPatch(root: MapNode, operations: readonly Operation[]): MapNode {
  let result: Node = root
  for (const operation of operations) {
    result = apply(result, operation)
    if (operation.op === 'copy') checkObjectSize(result, operation.origin)
  }
  return result.type === 'map' ? result : fail('a patch replaces the whole object', result.origin)
}

function apply(root: Node, operation: Operation): Node {
  const { op, path, origin } = operation
  const value = operation.value
  if (path.length === 0) return fail('a patch of the whole object is not supported', origin, 'kustomize-unsupported')
  if (op === 'remove') return change(root, path, operation, remove)
  if (op === 'add' || op === 'replace') {
    const set = op === 'add' ? add : replace
    return change(root, path, operation, (node, key) => set(node, key, value!, origin))
  }
  if (op === 'test') {
    const found = lookup(root, path)
    const equal = canonical(found ?? nothing(origin)) === canonical(value ?? nothing(origin))
    return equal ? root : fail('the test of a patch fails', origin)
  }
  const source = lookup(root, operation.from!)
  if (!source) return fail(`nothing at ${pointer(operation.from!)}`, origin)
  const rest = op === 'move' ? change(root, operation.from!, operation, remove) : root
  return change(rest, path, operation, (node, key) => add(node, key, source, origin))
}

const nothing = (origin: Origin): Node => ({ type: 'scalar', value: null, origin })

function change(
  node: Node,
  path: readonly string[],
  operation: Operation,
  edit: (parent: MapNode | ListNode, key: string, origin: Origin) => Node,
): Node {
  const [key, ...rest] = path as [string, ...string[]]
  if (node.type === 'scalar') return fail(`nothing at ${pointer(operation.path)} to ${operation.op}`, operation.origin)
  if (rest.length === 0) return edit(node, key, operation.origin)
  if (node.type === 'map') {
    const field = node.fields.get(key)
    if (!field) return fail(`nothing at ${pointer(operation.path)} to ${operation.op}`, operation.origin)
    return withField(node, key, change(field.value, rest, operation, edit), field.key)
  }
  const index = indexOf(node, key, operation.origin)
  const item = node.items[index]
  if (!item) return fail(`nothing at ${pointer(operation.path)} to ${operation.op}`, operation.origin)
  return withElement(node, index, change(item, rest, operation, edit))
}

function remove(parent: MapNode | ListNode, key: string, origin: Origin): Node {
  if (parent.type === 'map') {
    return parent.fields.has(key)
      ? withoutField(parent, key)
      : fail(`no field ${JSON.stringify(key)} to remove`, origin)
  }
  const index = indexOf(parent, key, origin)
  if (index >= parent.items.length) return fail(`no element ${key} to remove`, origin)
  return { ...parent, items: parent.items.filter((_, i) => i !== index) }
}

function add(parent: MapNode | ListNode, key: string, value: Node, origin: Origin): Node {
  if (parent.type === 'map') return withField(parent, key, value, origin)
  if (key === '-') return { ...parent, items: [...parent.items, value] }
  const index = indexOf(parent, key, origin, parent.items.length + 1)
  if (index > parent.items.length) return fail(`no place ${key} in a list of ${parent.items.length}`, origin)
  return { ...parent, items: [...parent.items.slice(0, index), value, ...parent.items.slice(index)] }
}

function replace(parent: MapNode | ListNode, key: string, value: Node, origin: Origin): Node {
  // the library that kustomize uses does not ask whether a field to replace is there
  if (parent.type === 'map') return withField(parent, key, value, origin)
  const index = indexOf(parent, key, origin)
  if (index >= parent.items.length) return fail(`no element ${key} to replace`, origin)
  return withElement(parent, index, value)
}

function lookup(node: Node, path: readonly string[]): Node | undefined {
  let here: Node | undefined = node
  for (const key of path) {
    if (here?.type === 'map') here = here.fields.get(key)?.value
    else if (here?.type === 'list' && /^-?(?:0|[1-9][0-9]{0,5})$/.test(key)) here = here.items.at(Number(key))
    else return undefined
  }
  return here
}

/** Position in a list of `length` places; a negative index counts from its end (evanphx/json-patch v4). */
function indexOf(list: ListNode, key: string, origin: Origin, length: number = list.items.length): number {
  if (/^(?:0|[1-9][0-9]{0,5})$/.test(key)) return Number(key)
  const index = /^-[1-9][0-9]{0,5}$/.test(key) ? length + Number(key) : -1
  if (index >= 0) return index
  return fail(`${JSON.stringify(key)} is no index of a list of ${list.items.length}`, origin)
}

const pointer = (path: readonly string[]): string => path.map(part => `/${part}`).join('')

function fail(
  message: string,
  origin: Origin,
  code: 'kustomize-invalid' | 'kustomize-unsupported' = 'kustomize-invalid',
): never {
  throw new BailiwickError(code, `JSON6902 patch: ${message}`, { origin })
}
