import type { MapNode, Path } from '../../kube/node.ts'
import {
  badValue,
  bytesIn,
  forbiddenField,
  isUnknown,
  itemsIn,
  mapIn,
  mapsIn,
  missingField,
  type Problem,
  type TypeCheck,
  textIn,
  wrongWord,
} from './problem.ts'
import { FORMS, type FormName } from './texts.ts'

type Add = (problem: Problem) => void

/** Omits invalid keys of ConfigMaps and Secrets from the path: such a key may be a secret value in the wrong place. */
const keyPath = (path: Path, key: string, form: FormName): Path => (form === 'map-key' ? path : [...path, key])

/** Reports keys and values of a text map that do not have the given formats. */
export function checkTexts(
  map: MapNode | undefined,
  path: Path,
  keys: FormName,
  values: FormName | undefined,
  add: Add,
): void {
  for (const [key, { value }] of map?.fields ?? []) {
    if (!FORMS[keys].fits(key))
      add(
        badValue(
          keyPath(path, key, keys),
          `keys of this form: ${FORMS[keys].allowed}`,
          'written with a key of another form',
        ),
      )
    if (values === undefined || value.type !== 'scalar' || typeof value.value !== 'string' || isUnknown(value)) continue
    if (!FORMS[values].fits(value.value)) add(badValue([...path, key], FORMS[values].allowed, 'text of another form'))
  }
}

/** Limit on the total bytes of all annotations of an object. */
const MAX_ANNOTATIONS = 256 * 1024

/** Checks labels and annotations of objects and Pod templates; the API server does not check those of other templates. */
export const checkMetadata: TypeCheck = (node, path, add) => {
  if (path.length > 1 && path.at(-2) !== 'template') return
  checkTexts(mapIn(node, 'labels'), [...path, 'labels'], 'qualified', 'label-value', add)
  const annotations = mapIn(node, 'annotations')
  if (annotations === undefined) return
  const texts: string[] = []
  for (const [key, { value }] of annotations.fields) {
    if (!FORMS.qualified.fits(key.toLowerCase()))
      add(
        badValue(
          [...path, 'annotations', key],
          `a key of this form: ${FORMS.qualified.allowed}`,
          'written with a key of another form',
        ),
      )
    if (value.type === 'scalar' && !value.opaque) texts.push(key, String(value.value))
  }
  const size = bytesIn(texts, MAX_ANNOTATIONS)
  if (size > MAX_ANNOTATIONS)
    add(badValue([...path, 'annotations'], `at most ${MAX_ANNOTATIONS} bytes`, `${size} bytes`))
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist']
const NODE_OPERATORS = [...OPERATORS, 'Gt', 'Lt']
const WITHOUT_VALUES = ['Exists', 'DoesNotExist']

const requirement =
  (operators: readonly string[]): TypeCheck =>
  (node, path, add) => {
    const operator = textIn(node, 'operator')
    if (operator === undefined) return
    const values = itemsIn(node, 'values')
    if (!operators.includes(operator)) add(wrongWord([...path, 'operator'], operators))
    else if (WITHOUT_VALUES.includes(operator)) {
      if (values.length > 0) add(forbiddenField([...path, 'values'], 'values with the operators In and NotIn'))
    } else if (values.length === 0) add(missingField([...path, 'values']))
    else if ((operator === 'Gt' || operator === 'Lt') && values.length !== 1)
      add(badValue([...path, 'values'], 'one whole number', `a list of ${values.length}`))
  }

export const checkRequirement = requirement(OPERATORS)
export const checkNodeRequirement = requirement(NODE_OPERATORS)

/** Whether a selector selects these labels; undefined if not known. */
function selects(selector: MapNode, labels: MapNode | undefined): boolean | undefined {
  const label = (key: string) => {
    const value = labels?.fields.get(key)?.value
    return value?.type === 'scalar' && !isUnknown(value) ? String(value.value) : value && null
  }
  for (const [key, { value }] of mapIn(selector, 'matchLabels')?.fields ?? []) {
    const is = label(key)
    if (is === null || value.type !== 'scalar' || isUnknown(value)) return undefined
    if (is !== String(value.value)) return false
  }
  for (const [, one] of mapsIn(selector, 'matchExpressions')) {
    const [is, operator] = [label(textIn(one, 'key') ?? ''), textIn(one, 'operator')]
    const values = itemsIn(one, 'values').map(node =>
      node.type === 'scalar' && !isUnknown(node) ? String(node.value) : null,
    )
    if (is === null || operator === undefined || values.includes(null)) return undefined
    const isThere = is !== undefined
    if (operator === 'In' && !(isThere && values.includes(is))) return false
    if (operator === 'NotIn' && isThere && values.includes(is)) return false
    if (operator === 'Exists' && !isThere) return false
    if (operator === 'DoesNotExist' && isThere) return false
  }
  return true
}

/** A workload's selector must not be empty and must select the Pods of its template. */
export const checkSelector: TypeCheck = (node, path, add) => {
  const [selector, template] = [mapIn(node, 'selector'), mapIn(node, 'template')]
  if (selector === undefined) return
  const count = (mapIn(selector, 'matchLabels')?.fields.size ?? 0) + itemsIn(selector, 'matchExpressions').length
  if (count === 0) add(missingField([...path, 'selector', 'matchLabels'], 'at least one label'))
  else if (template && selects(selector, mapIn(mapIn(template, 'metadata'), 'labels')) === false)
    add(
      badValue(
        [...path, 'template', 'metadata', 'labels'],
        'labels that spec.selector matches',
        'without the labels of the selector',
      ),
    )
}
