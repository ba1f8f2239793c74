import type { Path } from '../../kube/node.ts'
import { type ContextValue, type Fields, isFields, isList } from './jmespath/values.ts'

const NAMED = /(?<![\w.])request\.object((?:\.[A-Za-z_]\w*)+)(?!\w*\()/g

/** The longest field path that a validation names; findings point there. */
export function fieldNamedBy(rule: Fields): Path {
  const found = textsIn(rule.get('validate') ?? null).flatMap(text =>
    [...text.slice(0, 20_000).matchAll(NAMED)].map(([, fields = '']) => fields.slice(1).split('.')),
  )
  return found.reduce<string[]>((best, path) => (path.length > best.length ? path : best), [])
}

function textsIn(value: ContextValue): string[] {
  if (typeof value === 'string') return [value]
  if (isList(value)) return value.flatMap(textsIn)
  if (!isFields(value)) return []
  return [...value].flatMap(([key, item]) => (key === 'message' ? [] : textsIn(item)))
}
