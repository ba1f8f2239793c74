import { BailiwickError } from '../../errors.ts'
import { withoutField, writtenText } from '../../kube/edit-node.ts'
import type { ListNode, MapNode, Node } from '../../kube/node.ts'

export type Directive = 'merge' | 'replace' | 'delete'

/** The `$patch` directive of a map in a patch, and the map without it. Throws `kustomize-invalid` for an unknown one. */
export function takeMapDirective(patch: MapNode): { directive: Directive; rest: MapNode } {
  const field = patch.fields.get('$patch')
  if (!field) return { directive: 'merge', rest: patch }
  return { directive: directiveOf(field.value), rest: withoutField(patch, '$patch') }
}

/** The same for a list: its first element with `$patch` speaks for the list if it holds nothing else. */
export function takeListDirective(patch: ListNode): { directive: Directive; rest: ListNode } {
  const element = patch.items.find((item): item is MapNode => item.type === 'map' && item.fields.has('$patch'))
  if (!element || element.fields.size > 1) return { directive: 'merge', rest: patch }
  const value = element.fields.get('$patch')!.value
  const directive = directiveOf(value)
  const items = patch.items.filter(item => {
    if (item.type !== 'map') return true
    if (item.fields.size === 0) return false
    const other = item.fields.get('$patch')
    return !other || writtenText(other.value) !== directive
  })
  return { directive, rest: { ...patch, items } }
}

function directiveOf(value: Node): Directive {
  const text = writtenText(value)
  if (text === 'merge' || text === 'replace' || text === 'delete') return text
  throw new BailiwickError('kustomize-invalid', `unknown directive $patch: ${JSON.stringify(text)}`, {
    origin: value.origin,
    fix: 'Use merge, replace or delete.',
  })
}
