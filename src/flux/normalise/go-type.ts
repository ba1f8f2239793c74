import table from './go-types.json' with { type: 'json' }

/** A type of Go, as far as decoding and encoding an object depends on it. */
export type GoType =
  | { readonly type: 'string' | 'bool' | 'int32' | 'int64' | 'bytes' }
  | { readonly type: 'pointer' | 'list' | 'map'; readonly of: GoType }
  | { readonly type: 'struct'; readonly fields: ReadonlyMap<string, GoField> }
  | { readonly type: 'own'; readonly name: OwnEncoding }

/** Types that decode and encode themselves. */
export type OwnEncoding = 'IntOrString' | 'Quantity' | 'Time' | 'MicroTime' | 'RawExtension' | 'FieldsV1'

export interface GoField {
  readonly value: GoType
  /** Not written when it is empty in the sense of encoding/json: a struct never is. */
  readonly omitEmpty: boolean
  /** Not written when it is the zero value. */
  readonly omitZero: boolean
}

const structs = new Map<string, GoType>()
const kinds = new Map(
  Object.entries(table.kinds).flatMap(([apiVersion, group]) =>
    group.split(' ').map((entry): [string, string] => {
      const [kind = '', name = ''] = entry.split(':')
      return [`${apiVersion} ${kind}`, name]
    }),
  ),
)
const fieldsOf = new Map(Object.entries(table.types))

/**
 * The type that Flux (client-go 0.36) decodes objects of a kind into; undefined for a kind that it does not know, and
 * `no-object` for one that it knows as something else, on which it panics.
 */
export function goTypeOf(apiVersion: string, kind: string): GoType | 'no-object' | undefined {
  const name = kinds.get(`${apiVersion} ${kind}`)
  if (name === undefined) return undefined
  return name === '' ? 'no-object' : structNamed(name)
}

function structNamed(name: string): GoType {
  const known = structs.get(name)
  if (known) return known
  const fields = new Map<string, GoField>()
  // types may hold themselves
  const struct: GoType = { type: 'struct', fields }
  structs.set(name, struct)
  for (const text of (fieldsOf.get(name) ?? '').split(' ')) {
    if (text === '') continue
    const [, key = '', flags = '', code = ''] = /^([^:]+):([?~]*)(.+)$/.exec(text) ?? []
    fields.set(key, { value: parse(code), omitEmpty: flags.includes('?'), omitZero: flags.includes('~') })
  }
  return struct
}

function parse(code: string): GoType {
  const rest = code.slice(1)
  switch (code[0]) {
    case '*':
      return { type: 'pointer', of: parse(rest) }
    case '[':
      return { type: 'list', of: parse(rest) }
    case '{':
      return { type: 'map', of: parse(rest) }
    case '@':
      return structNamed(rest)
    case '!':
      return { type: 'own', name: rest as OwnEncoding }
    default:
      return { type: code as 'string' | 'bool' | 'int32' | 'int64' | 'bytes' }
  }
}
