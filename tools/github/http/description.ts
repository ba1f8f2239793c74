import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import { compile, type Matcher, match } from './match.ts'

type Json = Record<string, unknown>

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: Json
}

export interface Operation {
  readonly path: string
  readonly method: string
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody: { readonly required: boolean; readonly schema: Json } | undefined
  readonly responses: Json
  /** Whether apps may call it at all. */
  readonly enabledForApps: boolean
}

/** GitHub's own description of its API. The file is big (13 MB): read once, and only what is asked for is compiled. */
export class Description {
  readonly #document: Json
  readonly #ajv = new Ajv({ strict: false, allErrors: true, logger: false, coerceTypes: false })
  readonly #compiled = new Map<string, ValidateFunction>()
  #matchers: Matcher<string>[] | undefined

  constructor() {
    const file = createRequire(import.meta.url).resolve('@octokit/openapi/generated/api.github.com.json')
    this.#document = JSON.parse(readFileSync(file, 'utf8')) as Json
    this.#ajv.addFormat('date-time', /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/)
    this.#ajv.addFormat('uri', /^[a-z][a-z0-9+.-]*:\S+$/i)
  }

  /** The operation at a templated path ('/repos/{owner}/{repo}'), or undefined. */
  operation(method: string, path: string): Operation | undefined {
    const item = at(this.#document, 'paths', path)
    const raw = item && at(item, method.toLowerCase())
    if (!item || !raw) return undefined
    const parameters = [...list(item.parameters), ...list(raw.parameters)].map(each => this.#resolve(each))
    const body = raw.requestBody ? this.#resolve(raw.requestBody as Json) : undefined
    const schema = body && at(body, 'content', 'application/json', 'schema')
    return {
      path,
      method,
      operationId: String(raw.operationId),
      parameters: parameters as unknown as Parameter[],
      requestBody: schema ? { required: body?.required === true, schema } : undefined,
      responses: raw.responses as Json,
      enabledForApps: at(raw, 'x-github')?.enabledForGitHubApps !== false,
    }
  }

  /** The documented operation that serves an actual path, or undefined. */
  find(method: string, path: string): Operation | undefined {
    this.#matchers ??= Object.entries(this.#document.paths as Json).flatMap(([template, item]) =>
      Object.keys(item as Json).map(each => compile(each.toUpperCase(), template, template)),
    )
    const found = match(this.#matchers, method, path)
    return found && this.operation(method, found.value)
  }

  /** The schema that an answer with `status` has, or undefined where none is described. */
  responseSchema(operation: Operation, status: number): Json | undefined {
    const response = operation.responses[String(status)]
    return response ? at(this.#resolve(response as Json), 'content', 'application/json', 'schema') : undefined
  }

  /** The schema of a webhook's payload ('pull-request-opened'), or undefined. */
  webhookSchema(name: string): Json | undefined {
    const hook = at(this.#document, 'x-webhooks', name, 'post')
    return hook && at(hook, 'requestBody', 'content', 'application/json', 'schema')
  }

  /** What is wrong with `value`, as 'path: message' lines; compiled once per key. */
  check(key: string, schema: Json, value: unknown): string[] {
    let validate = this.#compiled.get(key)
    if (!validate) {
      validate = this.#ajv.compile(this.#convert(schema) as Json)
      this.#compiled.set(key, validate)
    }
    if (validate(value)) return []
    return (validate.errors ?? []).map(error => {
      const params = JSON.stringify(error.params)
      return `${error.instancePath || '/'}: ${error.message} ${params}`
    })
  }

  #resolve(value: Json): Json {
    const ref = value.$ref
    if (typeof ref !== 'string') return value
    const found = at(this.#document, ...ref.replace('#/', '').split('/'))
    if (!found) throw new Error(`the description has no ${ref}`)
    return found
  }

  /** OpenAPI 3.0 to JSON Schema: `nullable`, and references, each added to ajv when first met. */
  #convert(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(each => this.#convert(each))
    if (typeof schema !== 'object' || schema === null) return schema
    const { nullable, example: _, examples: __, discriminator: ___, ...rest } = schema as Json
    if (typeof rest.$ref === 'string') return { $ref: this.#add(rest.$ref) }
    const entries = Object.entries(rest).map(([key, value]) => {
      // an app may hear more than the enumerations of its events say
      if (key === 'events' && (value as Json).type === 'array') return [key, { type: 'array' }] as const
      const verbatim = key === 'enum' || key === 'default' || key === 'required' || key === 'const'
      return [meant(key, value), verbatim ? value : this.#convert(value)] as const
    })
    const converted = Object.fromEntries(entries)
    correct(String(rest.title), converted)
    return nullable === true ? { anyOf: [{ type: 'null' }, converted] } : converted
  }

  readonly #added = new Set<string>()

  #add(ref: string): string {
    const key = `mem:${ref.slice('#/'.length).replaceAll('/', '.')}`
    if (!this.#added.has(key)) {
      this.#added.add(key)
      this.#ajv.addSchema(this.#convert(this.#resolve({ $ref: ref })) as Json, key)
    }
    return key
  }
}

let loaded: Description | undefined

/** The description, read at the first call. */
export function description(): Description {
  loaded ??= new Description()
  return loaded
}

/** An account is a user or an enterprise; where the list of installations says both at once, the description is wrong. */
function meant(key: string, value: unknown): string {
  const impossible =
    key === 'allOf' && Array.isArray(value) && value.some(each => (each as Json).title === 'Enterprise')
  return impossible ? 'anyOf' : key
}

/** Where the description says less than GitHub sends, and than it says itself of the same thing elsewhere. */
function correct(title: string, schema: Json): void {
  // an outdated comment has them null
  if (title === 'Pull Request Review Comment' || title === 'Legacy Review Comment') {
    for (const name of ['line', 'position']) allowNull(schema.properties as Json, name)
  }
  // a fork that was deleted
  const head = (title === 'Pull Request' || title === 'Pull Request Simple') && at(schema, 'properties', 'head')
  if (head) allowNull(head.properties as Json, 'repo')
  // a label without a description
  const labels = title === 'Pull Request Simple' && at(schema, 'properties', 'labels', 'items', 'properties')
  if (labels) allowNull(labels, 'description')
}

function allowNull(properties: Json, name: string): void {
  properties[name] = { anyOf: [{ type: 'null' }, properties[name]] }
}

function at(value: Json, ...keys: string[]): Json | undefined {
  let current: unknown = value
  for (const key of keys) {
    if (typeof current !== 'object' || current === null) return undefined
    current = (current as Json)[key]
  }
  return current as Json | undefined
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : []
}
