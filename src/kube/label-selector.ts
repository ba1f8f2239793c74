import { isLabelKey, isLabelValue } from './names.ts'
import { at, type Node } from './node.ts'
import { listOf, textMapOf, textOf, textsOf } from './read-text.ts'

/** A label selector of Kubernetes: all its requirements must hold, none at all selects everything. */
export type LabelSelector = readonly Requirement[]

interface Requirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values: readonly string[]
}

/** Reads a LabelSelector; undefined where the API server would refuse it (LabelSelectorAsSelector of k8s.io/apimachinery). */
export function readLabelSelector(node: Node): LabelSelector | undefined {
  if (node.type === 'scalar' && node.value === null) return []
  if (node.type !== 'map') return undefined
  const labels = textMapOf(at(node, ['matchLabels']))
  const expressions = listOf(at(node, ['matchExpressions']), readExpression)
  if (!labels || !expressions) return undefined
  const equal = [...labels].map(([key, value]): Requirement => ({ key, operator: 'In', values: [value] }))
  const all = [...equal, ...expressions]
  return all.every(({ key, values }) => isLabelKey(key) && values.every(isLabelValue)) ? all : undefined
}

/** Whether an object with these labels is selected. */
export function selects(selector: LabelSelector, labels: ReadonlyMap<string, string>): boolean {
  return selector.every(({ key, operator, values }) => {
    const value = labels.get(key)
    if (operator === 'Exists') return value !== undefined
    if (operator === 'DoesNotExist') return value === undefined
    if (operator === 'In') return value !== undefined && values.includes(value)
    return value === undefined || !values.includes(value)
  })
}

function readExpression(node: Node): Requirement | undefined {
  const key = textOf(at(node, ['key']))
  const operator = textOf(at(node, ['operator']))
  const values = textsOf(at(node, ['values']))
  if (key === undefined || !values) return undefined
  if (operator === 'In' || operator === 'NotIn') return values.length > 0 ? { key, operator, values } : undefined
  if (operator !== 'Exists' && operator !== 'DoesNotExist') return undefined
  return values.length === 0 ? { key, operator, values } : undefined
}
