import { CelLimitError, CelSyntaxError } from '../../cel/cel-error.ts'
import type { CelExpression } from '../../cel/expression.ts'
import { kubernetesLibrary } from '../../cel/kubernetes/kubernetes-library.ts'
import { parseCel } from '../../cel/parse-cel.ts'
import { reads } from '../../cel/parts-of.ts'
import type { MapNode, Path } from '../../kube/node.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  mapsIn,
  missingField,
  textIn,
  valueIn,
  wrongWord,
} from '../core/read-field.ts'
import type { Problem } from '../model/problem.ts'
import type { CustomSchema } from './custom-schema.ts'
import { fieldPathRefusal } from './field-path-refusal.ts'
import { inferType, type TypeNames } from './infer-type.ts'
import { isExposed } from './is-exposed.ts'
import { type RuleType, ruleTypeOf } from './rule-type.ts'
import { RuleTypeError } from './rule-type-error.ts'

type Add = (problem: Problem) => void

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** Where a schema with rules stands. */
interface RulePlace {
  readonly path: Path
  readonly isRoot: boolean
  /** The API server finds the value before an update, so that rules may read oldSelf. */
  readonly isCorrelated: boolean
}

/**
 * What the API server certainly refuses in the rules of a schema: what does not compile, and fields that do not fit
 * (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation). It also refuses what costs too much by its estimate,
 * which is not worked out here.
 */
export function ruleProblems(node: MapNode, schema: CustomSchema, place: RulePlace, add: Add): void {
  const here = [...place.path, 'x-kubernetes-validations']
  const rules = mapsIn(node, 'x-kubernetes-validations')
  if (rules.length > 0 && !isExposed(schema))
    add(forbiddenField(here, 'rules of a schema whose type, and that of its items, is set'))
  else for (const [index, rule] of rules) checkRule(rule, schema, place, [...here, index], add)
}

function checkRule(rule: MapNode, schema: CustomSchema, place: RulePlace, path: Path, add: Add): void {
  checkTexts(rule, path, add)
  const text = textIn(rule, 'rule')
  const fieldPath = textIn(rule, 'fieldPath')
  if (fieldPath && fieldPath.trim() !== '' && fieldPathRefusal(fieldPath, schema))
    add(badValue([...path, 'fieldPath'], 'the path of a field, such as .spec.size', 'a path that leads to no field'))
  if (!text || text.trim() === '') return
  const self = ruleTypeOf(schema, place.isRoot || schema.isEmbedded)
  const isOptional = valueIn(rule, 'optionalOldSelf')
  const old: RuleType = isOptional?.type === 'scalar' && isOptional.value === true ? { is: 'optional', of: self } : self
  const names = new Map([
    ['self', self],
    ['oldSelf', old],
  ])
  const ruleOf = compiled(text, names, 'bool')
  const expected = 'a CEL expression that is true or false'
  if (ruleOf.refusal)
    add(badValue([...path, 'rule'], expected, `an expression that does not compile: ${ruleOf.refusal}`))
  checkOldSelf(rule, ruleOf.expression, place, path, add)
  const message = textIn(rule, 'messageExpression') ?? ''
  if (message.trim() === '') return
  const { refusal } = compiled(message, names, 'string')
  if (refusal)
    add(
      badValue(
        [...path, 'messageExpression'],
        'a CEL expression that is a text',
        `an expression that does not compile: ${refusal}`,
      ),
    )
}

/** Texts that are set must say something, and most of them in one line. */
function checkTexts(rule: MapNode, path: Path, add: Add): void {
  const rest = textIn(rule, 'rule')
  if (rest?.trim() === '') add(missingField([...path, 'rule'], 'a CEL expression'))
  for (const name of ['message', 'messageExpression', 'fieldPath']) {
    const text = textIn(rule, name)
    if (!text) continue
    if (text.trim() === '') add(missingField([...path, name], 'a text, or no such field'))
    else if (name !== 'messageExpression' && /[\n\r]/.test(text.trim()))
      add(badValue([...path, name], 'text in one line', 'text of several lines'))
  }
  if (rest && /[\n\r]/.test(rest.trim()) && !textIn(rule, 'message') && !isHidden(rule, 'message'))
    add(missingField([...path, 'message'], 'a message, because the rule has several lines'))
  if (textIn(rule, 'reason') === '') add(wrongWord([...path, 'reason'], REASONS))
}

function checkOldSelf(
  rule: MapNode,
  expression: CelExpression | undefined,
  place: RulePlace,
  path: Path,
  add: Add,
): void {
  if (expression === undefined) return
  const isRead = reads(expression, 'oldSelf')
  if (isRead && !place.isCorrelated)
    add(
      badValue(
        [...path, 'rule'],
        'oldSelf outside of lists, or in lists with x-kubernetes-list-type: map',
        'a rule with oldSelf',
      ),
    )
  if (!isRead && valueIn(rule, 'optionalOldSelf') !== undefined && !isHidden(rule, 'optionalOldSelf'))
    add(forbiddenField([...path, 'optionalOldSelf'], 'this field where the rule reads oldSelf'))
}

interface Compiled {
  readonly expression?: CelExpression
  /** Why the API server certainly refuses it. */
  readonly refusal?: string
}

function compiled(text: string, names: TypeNames, wanted: 'bool' | 'string'): Compiled {
  let expression: CelExpression
  try {
    expression = parseCel(text, kubernetesLibrary)
  } catch (error) {
    if (error instanceof CelLimitError) return {}
    if (error instanceof CelSyntaxError) return { refusal: error.message }
    throw error
  }
  try {
    const { is } = inferType(expression, names)
    const isRight = is === wanted || (is === 'dyn' && !isVague(expression, names))
    return isRight ? { expression } : { expression, refusal: `its result is not a ${wanted}` }
  } catch (error) {
    if (error instanceof RuleTypeError) return { expression, refusal: error.message }
    throw error
  }
}

/** A value of any type is no result, even where it is one of the right type. */
function isVague(expression: CelExpression, names: TypeNames): boolean {
  return expression.type === 'field' && expression.of.type === 'name' && names.get(expression.of.name)?.is === 'object'
}
