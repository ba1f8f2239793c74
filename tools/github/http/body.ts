import { invalid } from './http-error.ts'

type Body = Readonly<Record<string, unknown>>

/** A text field; undefined when absent. The description was checked before, so a wrong type is a fault of the server. */
export function text(body: Body, field: string): string | undefined {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid('Request', field)
  return value
}

/** A text field that must be there. Throws 422. */
export function requiredText(body: Body, field: string): string {
  const value = text(body, field)
  if (value === undefined) throw invalid('Request', field, `${field} is missing`)
  return value
}

export function flag(body: Body, field: string): boolean | undefined {
  const value = body[field]
  return typeof value === 'boolean' ? value : undefined
}

export function object(body: Body, field: string): Body | undefined {
  const value = body[field]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : undefined
}

export function objects(body: Body, field: string): Body[] {
  const value = body[field]
  return Array.isArray(value) ? (value as Body[]) : []
}

export function texts(body: Body, field: string): string[] | undefined {
  const value = body[field]
  return Array.isArray(value) ? value.map(String) : undefined
}

/** Names that come as texts or as objects with a name, as labels do; none when absent. */
export function namesIn(body: Body, field: string): string[] {
  const value = body[field]
  if (!Array.isArray(value)) return []
  return value.map(each => (typeof each === 'string' ? each : String((each as { name?: unknown }).name)))
}
