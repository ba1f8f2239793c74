import { oncePer } from '../base/once-per.ts'
import { isNull, type ListNode, type MapNode, type Node, type Path, type ScalarValue } from '../kube/node.ts'
import type { FieldCheck } from './core/checks-of.ts'
import type { TypeCheck } from './core/problem.ts'
import { type FieldPlan, isEmpty, type ObjectPlan, objectPlan } from './field-plan.ts'
import { areDistinct, fitsScalar } from './type-walk.ts'

/**
 * Whether a value certainly has no problem of its type; false decides nothing. Most objects are valid, and this makes
 * no paths or messages: `TypeWalk` does. `start`: path of the value in the applied object.
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
    // as in `TypeWalk`, fields missing in the status are allowed
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

/** How a value is checked. */
type Look = 'text' | 'boolean' | 'word' | 'scalar' | 'object' | 'list' | 'map' | 'never'

/** A field, item or value of a plan, reduced to what shows that it has no problem. */
class AcceptField {
  readonly name: string
  /** The field that followed this one last time: most objects of a type have the same field order. */
  next: AcceptField | undefined
  readonly look: Look
  readonly check: FieldCheck | undefined
  /** It must be there. */
  readonly isNeeded: boolean
  /** And not be empty either. */
  readonly isFilled: boolean
  readonly plan: FieldPlan
  readonly words: ReadonlySet<ScalarValue> | undefined
  readonly below: AcceptField | undefined
  #object: AcceptObject | undefined

  constructor(name: string, plan: FieldPlan, look: Look, isNeeded = false, isFilled = false) {
    this.name = name
    this.next = undefined
    this.look = look
    this.check = plan.check
    this.isNeeded = isNeeded
    this.isFilled = isFilled
    this.plan = plan
    this.words = plan.words && new Set(plan.words)
    this.below = plan.below && new AcceptField('', plan.below, lookAt(plan.below))
  }

  /** Undefined for JSON of any shape. */
  object(): AcceptObject | undefined {
    // types contain themselves, so this is created when first needed
    if (this.#object === undefined) {
      const plan = this.plan.object()
      this.#object = plan && acceptObject(plan)
    }
    return this.#object
  }
}

/** An object type. */
interface AcceptObject {
  readonly fields: ReadonlyMap<string, AcceptField>
  /** What `next` of it was the first field of the last object. */
  readonly start: AcceptField
  /** How many fields must be there. */
  readonly needs: number
  readonly checks: readonly TypeCheck[]
}

/** The reduced plan of an object type; undefined for JSON of any shape. The same one for the same type and version. */
function acceptPlan(type: string, version: number): AcceptObject | undefined {
  const plan = objectPlan(type, version)
  return plan && acceptObject(plan)
}

const acceptObject = oncePer((plan: ObjectPlan): AcceptObject => {
  const needed = new Set([...plan.required, ...plan.filled])
  const fields = new Map<string, AcceptField>()
  for (const [key, field] of plan.fields) {
    fields.set(key, new AcceptField(key, field, lookAt(field), needed.has(key), plan.filled.includes(key)))
  }
  return {
    fields,
    start: new AcceptField('', NOTHING, 'never'),
    needs: needed.size,
    checks: plan.checks,
  }
})

const NOTHING: FieldPlan = {
  is: 'scalar',
  scalar: 'any',
  words: undefined,
  keys: [],
  below: undefined,
  object: () => undefined,
  check: undefined,
  plain: undefined,
}

function lookAt({ is, scalar, words }: FieldPlan): Look {
  if (is !== 'scalar') return is
  if (words !== undefined) return scalar === 'string' ? 'word' : 'never'
  if (scalar === 'string') return 'text'
  return scalar === 'boolean' ? 'boolean' : 'scalar'
}
