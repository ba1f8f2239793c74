import { filledFields, isEnforced } from './beyond-types.ts'
import { checksOf, type FieldCheck } from './core/checks-of.ts'
import type { TypeCheck } from './core/read-field.ts'
import { type FieldType, isKnownIn, type KnownSince, objectType, type Scalar } from './types-table.ts'

/** What a version of Kubernetes allows in one type of object: the tables, read once. */
export interface ObjectPlan {
  readonly name: string
  /** Those that the version knows. */
  readonly fields: ReadonlyMap<string, FieldPlan>
  /** Also those of other versions. */
  readonly all: ReadonlyMap<string, KnownSince>
  /** Fields that must be there, and not be null. */
  readonly required: readonly string[]
  /** Fields that must not be empty. */
  readonly filled: readonly string[]
  readonly checks: readonly TypeCheck[]
}

/** What a version allows in one field, item or value. All have one shape, because the walk asks for every value. */
export interface FieldPlan {
  readonly is: FieldType['is']
  readonly scalar: Scalar
  /** The allowed words of a field, or of the items of its list. */
  readonly words: readonly string[] | undefined
  /** As in `FieldType`. */
  readonly keys: readonly string[] | '='
  /** Of a list's items, or of a map's values. */
  readonly below: FieldPlan | undefined
  /** Undefined for JSON of any shape. */
  object(): ObjectPlan | undefined
  readonly check: FieldCheck | undefined
  /** Values of this JavaScript type have no problem. */
  readonly plain: 'string' | 'boolean' | undefined
}

const plans = new Map<number, Map<string, ObjectPlan | undefined>>()

/** The plan of an object type by its name in the table, and of a minor version; undefined for JSON of any shape. */
export function objectPlan(name: string, version: number): ObjectPlan | undefined {
  const ofVersion = plans.get(version) ?? new Map<string, ObjectPlan | undefined>()
  plans.set(version, ofVersion)
  const known = ofVersion.get(name)
  if (known !== undefined || ofVersion.has(name)) return known
  const made = planOf(name, version)
  ofVersion.set(name, made)
  return made
}

function planOf(name: string, version: number): ObjectPlan | undefined {
  const type = objectType(name)
  if (type === undefined) return undefined
  const checks = checksOf(name)
  const fields = new Map<string, FieldPlan>()
  for (const [key, field] of type.fields)
    if (isKnownIn(field, version))
      fields.set(key, fieldPlan(field.type, version, type.words.get(key), checks?.fields.get(key)))
  return {
    name,
    fields,
    all: type.fields,
    required: type.required.filter(key => isEnforced(name, key)),
    filled: filledFields(name),
    checks: checks?.type ?? [],
  }
}

function fieldPlan(
  type: FieldType,
  version: number,
  words: readonly string[] | undefined,
  check: FieldCheck | undefined,
): FieldPlan {
  const below = type.is === 'list' ? type.items : type.is === 'map' ? type.values : undefined
  const isFree = words === undefined && check === undefined && type.is === 'scalar'
  let object: { readonly plan: ObjectPlan | undefined } | undefined
  return {
    is: type.is,
    scalar: type.is === 'scalar' ? type.scalar : 'any',
    words,
    keys: type.is === 'list' ? type.keys : [],
    below: below && fieldPlan(below, version, type.is === 'list' ? words : undefined, undefined),
    object() {
      // types contain themselves, so a plan is made when a value asks for it
      object ??= { plan: type.is === 'object' ? objectPlan(type.type, version) : undefined }
      return object.plan
    },
    check,
    plain: isFree && (type.scalar === 'string' || type.scalar === 'boolean') ? type.scalar : undefined,
  }
}
