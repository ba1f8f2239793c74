import { BailiwickError } from '../../errors.ts'

/** One argument of a tool, as JSON Schema. */
export interface ArgumentSchema {
  readonly type: 'string' | 'array'
  readonly description: string
  readonly pattern?: string
  readonly items?: { readonly type: 'string'; readonly pattern?: string }
}

/** The arguments of a tool, as JSON Schema. */
export interface InputSchema {
  readonly properties: Readonly<Record<string, ArgumentSchema>>
  readonly required: readonly string[]
}

/** Arguments that match their schema. */
export interface ToolArguments {
  one(name: string): string | undefined
  all(name: string): readonly string[]
  /** Returns a required argument. */
  text(name: string): string
}

/** No valid argument is longer. */
const LONGEST = 1000
const MOST = 100

/** Validates the arguments of a call. Throws `usage` for anything the schema does not allow, because a model may send anything. */
export function readArguments(
  { properties, required }: InputSchema,
  given: Readonly<Record<string, unknown>>,
): ToolArguments {
  const found = new Map<string, readonly string[]>()
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!schema) throw wrong(`${JSON.stringify(name)} is not an argument of this tool`, Object.keys(properties))
    const pattern = schema.type === 'array' ? schema.items?.pattern : schema.pattern
    const values: readonly unknown[] = schema.type === 'array' && Array.isArray(value) ? value : [value]
    if ((schema.type === 'string' && Array.isArray(value)) || values.length > MOST || !values.every(isText(pattern)))
      throw wrong(`${name} is not ${schema.description}`, Object.keys(properties))
    found.set(name, values as readonly string[])
  }
  const missing = required.filter(name => (found.get(name) ?? []).length === 0)
  if (missing.length > 0) throw wrong(`${missing.join(', ')} is missing`, Object.keys(properties))
  return {
    one: name => found.get(name)?.[0],
    all: name => found.get(name) ?? [],
    text: name => found.get(name)?.[0] ?? '',
  }
}

const isText =
  (pattern: string | undefined) =>
  (value: unknown): boolean =>
    typeof value === 'string' &&
    value !== '' &&
    value.length <= LONGEST &&
    !value.includes('\0') &&
    (pattern === undefined || new RegExp(pattern, 'u').test(value))

const wrong = (message: string, names: readonly string[]) =>
  new BailiwickError('usage', message, { fix: `Arguments: ${names.join(', ')}.` })
