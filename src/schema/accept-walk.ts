import type { ListNode, MapNode, Node, Path } from '../kube/node.ts'
import { type AcceptField, type AcceptObject, acceptPlan } from './accept-plan.ts'
import { areDistinct } from './are-distinct.ts'
import { isEmpty } from './beyond-types.ts'
import { fitsScalar } from './check-scalar.ts'

/**
 * Whether a value certainly has no problem of its type; false says nothing. Nearly all objects are valid, and this makes
 * neither paths of values nor messages: `TypeWalk` says what is wrong. `start`: path of the value in the object that is applied.
 */
export function isAccepted(node: Node, type: string, version: number, start: Path = []): boolean {
  const plan = acceptPlan(type, version)
  return plan === undefined || (node.type === 'map' && new AcceptWalk(start).object(node, plan))
}

/** One walk through a value, which ends at the first thing that is not certainly valid. */
class AcceptWalk {
  /** The path of the current object; checks ask where they are. */
  readonly #path: (string | number)[]
  #isRefused = false
  readonly #refuse = (): void => {
    this.#isRefused = true
  }

  constructor(start: Path) {
    this.#path = [...start]
  }

  object(node: MapNode, plan: AcceptObject): boolean {
    if (node.dropped !== undefined) return false
    let found = 0
    let last = plan.start
    for (const [key, { value }] of node.fields) {
      let field = last.next
      if (field === undefined || field.name !== key) {
        field = plan.fields.get(key)
        if (field === undefined) return false
        last.next = field
      }
      last = field
      if (!this.value(key, value, field) && !isNull(value)) return false
      if (field.check !== undefined) {
        field.check(value, this.#path, this.#refuse)
        if (this.#isRefused) return false
      }
      if (field.isNeeded && !(field.isFilled ? isEmpty(value) : isNull(value))) found += 1
    }
    // as in `TypeWalk`: what is missing in the status is not asked for
    if (this.#path[0] === 'status') return true
    if (found !== plan.needs) return false
    for (const check of plan.checks) check(node, this.#path, this.#refuse)
    return !this.#isRefused
  }

  /** Whether the value of a field, an item or a map is certainly valid; `key` is its last step. */
  value(key: string | number, node: Node, field: AcceptField): boolean {
    switch (field.look) {
      case 'text':
        return node.type === 'scalar' && typeof node.value === 'string'
      case 'boolean':
        return node.type === 'scalar' && typeof node.value === 'boolean'
      case 'scalar':
        return fitsScalar(node, field.plan.scalar)
      case 'word':
        return node.type === 'scalar' && field.words!.has(node.value)
      case 'never':
        return false
    }
    this.#path.push(key)
    const isValid = this.#inside(node, field)
    this.#path.pop()
    return isValid
  }

  #inside(node: Node, field: AcceptField): boolean {
    if (field.look === 'list') return node.type === 'list' && this.#list(node, field)
    if (field.look === 'map') return node.type === 'map' && this.#map(node, field.below!)
    const plan = field.object()
    if (plan === undefined) return true
    return node.type === 'map' && this.object(node, plan)
  }

  #map(node: MapNode, below: AcceptField): boolean {
    for (const [key, { value }] of node.fields) if (!this.value(key, value, below)) return false
    return true
  }

  #list({ items }: ListNode, field: AcceptField): boolean {
    const { keys } = field.plan
    if (keys.length > 0 && items.length > 1 && !areDistinct(items, keys)) return false
    const below = field.below!
    for (let index = 0; index < items.length; index++) {
      const item = items[index]!
      if (isNull(item) || !this.value(index, item, below)) return false
    }
    return true
  }
}

const isNull = (node: Node): boolean => node.type === 'scalar' && node.value === null
