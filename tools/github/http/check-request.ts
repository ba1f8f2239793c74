import { type Description, description, type Operation, type Parameter } from './description.ts'

interface Request {
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: unknown
}

/**
 * What GitHub's description finds wrong with a request; empty when it is right. Stricter than GitHub itself in one way:
 * a field or query parameter that is not described is wrong, since it can only be a mistake of the caller.
 */
export function checkRequest(operation: Operation, request: Request): string[] {
  const doc = description()
  const key = `${operation.method} ${operation.path}`
  const wrong: string[] = []
  for (const parameter of operation.parameters) {
    const given = parameter.in === 'path' ? request.params[parameter.name] : request.query.get(parameter.name)
    if (parameter.in !== 'path' && parameter.in !== 'query') continue
    wrong.push(...checkParameter(doc, key, parameter, given ?? undefined))
  }
  const known = new Set(operation.parameters.filter(p => p.in === 'query').map(p => p.name))
  for (const name of request.query.keys()) if (!known.has(name)) wrong.push(`query ${name}: is not described`)
  return [...wrong, ...checkBody(doc, key, operation, request.body)]
}

function checkParameter(doc: Description, key: string, parameter: Parameter, given: string | undefined): string[] {
  const where = `${parameter.in} ${parameter.name}`
  if (given === undefined) return parameter.required ? [`${where}: is missing`] : []
  const schema = parameter.schema
  if (!schema) return []
  const problems = doc.check(`${key} ${where}`, schema, coerce(schema.type, given))
  return problems.map(problem => `${where}: ${problem} (${JSON.stringify(given)})`)
}

function coerce(type: unknown, given: string): unknown {
  if (type === 'integer' || type === 'number') return /^-?\d+$/.test(given) ? Number(given) : given
  if (type === 'boolean') return given === 'true' ? true : given === 'false' ? false : given
  return type === 'array' ? given.split(',') : given
}

function checkBody(doc: Description, key: string, operation: Operation, body: unknown): string[] {
  const described = operation.requestBody
  if (!described) return body === undefined ? [] : ['body: none is described']
  if (body === undefined) return described.required ? ['body: is missing'] : []
  const problems = doc.check(`${key} body`, described.schema, body)
  const known = fieldsOf(described.schema)
  if (known && typeof body === 'object' && body !== null) {
    for (const field of Object.keys(body)) if (!known.has(field)) problems.push(`/${field}: is not described`)
  }
  return problems.map(problem => `body ${problem}`)
}

/** All fields that a body may have; undefined where it may have any, or is no plain object. */
function fieldsOf(schema: Record<string, unknown>): Set<string> | undefined {
  if (schema.additionalProperties || schema.$ref) return undefined
  const fields = new Set(Object.keys((schema.properties ?? {}) as object))
  for (const key of ['oneOf', 'anyOf', 'allOf']) {
    for (const part of (schema[key] ?? []) as Record<string, unknown>[]) {
      const inner = fieldsOf(part)
      if (!inner) return undefined
      for (const field of inner) fields.add(field)
    }
  }
  return fields.size > 0 ? fields : undefined
}
