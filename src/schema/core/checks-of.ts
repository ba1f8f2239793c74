import type { Node, Path } from '../../kube/node.ts'
import { isUnknown } from '../model/is-unknown.ts'
import type { Problem } from '../model/problem.ts'
import { FIELD_FORMS, MAP_FORMS } from './field-forms.ts'
import { checkTexts } from './labels.ts'
import { PORTS_BY_NAME, RANGES } from './ranges.ts'
import { badValue, forbiddenField, isHidden, isSet, missingField, type TypeCheck } from './read-field.ts'
import { FORMS, type FormName } from './texts.ts'
import { TYPE_CHECKS } from './type-checks.ts'
import { UNIONS } from './unions.ts'

/** Reports problems in the value of one field. */
export type FieldCheck = (node: Node, path: Path, add: (problem: Problem) => void) => void

/** Checks of an object type beyond the types of its fields. */
interface TypeRules {
  readonly type: readonly TypeCheck[]
  readonly fields: ReadonlyMap<string, FieldCheck>
}

const made = new Map<string, TypeRules | undefined>()

/** The checks of a Kubernetes type by its name in the table; undefined if it has none. Cached by name. */
export function checksOf(name: string): TypeRules | undefined {
  if (made.has(name)) return made.get(name)
  const type = [...own(TYPE_CHECKS, name, []), ...(Object.hasOwn(UNIONS, name) ? [union(name)] : [])]
  const fields = new Map<string, FieldCheck>()
  const note = (field: string, check: FieldCheck) => {
    const before = fields.get(field)
    fields.set(field, before ? both(before, check) : check)
  }
  for (const [field, form] of Object.entries(own(FIELD_FORMS, name, {}))) note(field, texts(form))
  for (const field of own(PORTS_BY_NAME, name, [])) note(field, texts('port-name', true))
  for (const [field, [least, most]] of Object.entries(own(RANGES, name, {}))) note(field, range(least, most))
  for (const [field, [keys, values]] of Object.entries(own(MAP_FORMS, name, {})))
    note(field, (node, path, add) => checkTexts(node.type === 'map' ? node : undefined, path, keys, values, add))
  const checks = type.length + fields.size === 0 ? undefined : { type, fields }
  made.set(name, checks)
  return checks
}

const both =
  (first: FieldCheck, second: FieldCheck): FieldCheck =>
  (node, path, add) => {
    first(node, path, add)
    second(node, path, add)
  }

const own = <T>(table: Readonly<Record<string, T>>, name: string, nothing: T): T =>
  Object.hasOwn(table, name) ? table[name]! : nothing

/** An empty text counts as absent, except in a list or where `isNeeded`. */
const texts =
  (name: FormName, isNeeded = false): FieldCheck =>
  (node, path, add) => {
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) text(item, [...path, index], name, add)
    } else if (isNeeded || !(node.type === 'scalar' && node.value === '')) text(node, path, name, add)
  }

function text(node: Node, path: Path, name: FormName, add: (problem: Problem) => void): void {
  if (node.type !== 'scalar' || typeof node.value !== 'string' || isUnknown(node)) return
  if (!FORMS[name].fits(node.value)) add(badValue(path, FORMS[name].allowed, 'text of another form'))
}

const range =
  (least: number, most: number): FieldCheck =>
  (node, path, add) => {
    if (node.type !== 'scalar' || isUnknown(node)) return
    if (typeof node.value !== 'number' && typeof node.value !== 'bigint') return
    const number = Number(node.value)
    if (number >= least && number <= most) return
    add(
      badValue(
        path,
        most === Infinity ? `a number of at least ${least}` : `a number from ${least} to ${most}`,
        'another number',
      ),
    )
  }

function union(name: string): TypeCheck {
  const { fields, isNeeded } = UNIONS[name]!
  return (node, path, add) => {
    const found = fields.filter(field => isSet(node, field))
    if (fields.some(field => isHidden(node, field))) return
    for (const other of found.slice(1)) add(forbiddenField([...path, other], `${found[0]} or ${other}`))
    if (isNeeded && found.length === 0) add(missingField([...path, fields[0]!], `one of ${fields.join(', ')}`))
  }
}
