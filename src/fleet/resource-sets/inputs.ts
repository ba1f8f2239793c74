import { textNode } from '../../kube/edit-node.ts'
import { at, type Node, type ScalarNode } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'

/** The fields of one set of inputs: what stands at a path of names; undefined where nothing is set there. */
export type Inputs = (field: readonly string[]) => Node | undefined

/** The sets of inputs that stand in a ResourceSet itself, each with what the operator adds about their provider. */
export function inlineInputs(set: KubeObject): readonly Inputs[] {
  const list = at(set.root, ['spec', 'inputs'])
  if (list?.type !== 'list') return []
  const { apiVersion, kind, namespace, name } = idOf(set)
  const provider = new Map(Object.entries({ apiVersion, kind, namespace, name }))
  return list.items.map(item => field => {
    const [first, second = '', ...more] = field
    // the operator writes over what an input is called so
    if (first !== 'provider') return at(item, [...field])
    const value = more.length === 0 ? provider.get(second) : undefined
    return value === undefined ? undefined : textNode(value, item.origin)
  })
}

/** The text that Go's templates print for a value; undefined for one that has another in Go or is no single value. */
export function printed(node: Node): (Pick<ScalarNode, 'opaque'> & { readonly text: string }) | undefined {
  if (node.type !== 'scalar') return undefined
  const { value, opaque } = node
  if (typeof value === 'string') return { text: value, ...(opaque ? { opaque } : {}) }
  if (opaque) return undefined
  if (typeof value === 'boolean') return { text: String(value) }
  // larger ones are printed with an exponent
  const isPlain = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1_000_000
  return isPlain ? { text: String(value) } : undefined
}
