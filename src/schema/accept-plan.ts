import type { ScalarValue } from '../kube/node.ts'
import type { FieldCheck } from './core/checks-of.ts'
import type { TypeCheck } from './core/read-field.ts'
import { type FieldPlan, type ObjectPlan, objectPlan } from './field-plan.ts'

/** How a value is looked at. */
type Look = 'text' | 'boolean' | 'word' | 'scalar' | 'object' | 'list' | 'map' | 'never'

/** A field, item or value of a plan, reduced to what tells that it has no problem. */
export class AcceptField {
  readonly name: string
  /** The field that came behind this one last time: most objects of a type have their fields in one order. */
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
    // types contain themselves, so this is made when a value asks for it
    if (this.#object === undefined) {
      const plan = this.plan.object()
      this.#object = plan && acceptObject(plan)
    }
    return this.#object
  }
}

/** An object type. */
export interface AcceptObject {
  readonly fields: ReadonlyMap<string, AcceptField>
  /** What `next` of it was the first field of the last object. */
  readonly start: AcceptField
  /** How many fields must be there. */
  readonly needs: number
  readonly checks: readonly TypeCheck[]
}

const made = new WeakMap<ObjectPlan, AcceptObject>()

/** The reduced plan of an object type; undefined for JSON of any shape. The same one for the same type and version. */
export function acceptPlan(type: string, version: number): AcceptObject | undefined {
  const plan = objectPlan(type, version)
  return plan && acceptObject(plan)
}

function acceptObject(plan: ObjectPlan): AcceptObject {
  const known = made.get(plan)
  if (known) return known
  const needed = new Set([...plan.required, ...plan.filled])
  const fields = new Map<string, AcceptField>()
  for (const [key, field] of plan.fields) {
    fields.set(key, new AcceptField(key, field, lookAt(field), needed.has(key), plan.filled.includes(key)))
  }
  const reduced = {
    fields,
    start: new AcceptField('', NOTHING, 'never'),
    needs: needed.size,
    checks: plan.checks,
  }
  made.set(plan, reduced)
  return reduced
}

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
