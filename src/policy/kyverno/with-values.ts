import type { Json } from '../../kube/node.ts'
import { type ContextValue, type Fields, fromJson, isFields } from './jmespath/values.ts'
import type { RuleRequest } from './rule-request.ts'

/** A part of a dotted path; quotes protect dots. */
const PART = /"(?:[^"]|"")*"|[^.]+/g

/** A request with values of a policy test in its context; the object follows where they change it (makePolicyContext of Kyverno's command line). */
export function withValues(request: RuleRequest, values: ReadonlyMap<string, Json>): RuleRequest {
  if (values.size === 0) return request
  const context = withNames(request.context, values)
  const asked = context.get('request')
  const of = (key: string) => (isFields(asked) ? asked.get(key) : undefined)
  const old = of('oldObject')
  if (request.operation === 'DELETE') return { ...request, context, object: old ?? null }
  return { ...request, context, object: of('object') ?? null, ...(request.old ? { old: old ?? null } : {}) }
}

/** Names of a context with further values, by dotted path. */
export function withNames(context: Fields, values: ReadonlyMap<string, Json>): Fields {
  let made = context
  for (const [path, value] of values) {
    const parts = (path.match(PART) ?? []).map(part => (part.startsWith('"') ? part.slice(1, -1) : part))
    if (parts.length > 0) made = merged(made, nested(parts, fromJson(value))) as Fields
  }
  return made
}

const nested = (parts: readonly string[], value: ContextValue): ContextValue =>
  parts.reduceRight<ContextValue>((inner, part) => new Map([[part, inner]]), value)

function merged(one: ContextValue | undefined, other: ContextValue): ContextValue {
  if (!isFields(one) || !isFields(other)) return other
  const made = new Map(one)
  for (const [key, value] of other) made.set(key, merged(made.get(key), value))
  return made
}
