import { brotliDecompressSync } from 'node:zlib'
import { KUBERNETES } from '../kube/capabilities/scope.ts'
import { groupOf } from '../kube/object.ts'
import packed from './kubernetes-types.json' with { type: 'json' }

/** How a value is written in an object. */
export type Scalar =
  | 'string'
  | 'boolean'
  | 'number'
  | 'int32'
  | 'int64'
  | 'quantity'
  | 'int-or-string'
  | 'time'
  | 'bytes'
  | 'any'

export type FieldType =
  | { readonly is: 'scalar'; readonly scalar: Scalar }
  | { readonly is: 'object'; readonly type: string }
  /** `keys`: the fields that no two items may have alike; none for a list of any items, '=' for a set of values. */
  | { readonly is: 'list'; readonly items: FieldType; readonly keys: readonly string[] | '=' }
  | { readonly is: 'map'; readonly values: FieldType }

/** Something that only some versions know; minor numbers, both included. */
export interface KnownSince {
  readonly type: FieldType
  readonly since: number
  readonly until: number
}

/** What may stand in one type of object. */
interface ObjectType {
  readonly name: string
  readonly fields: ReadonlyMap<string, KnownSince>
  readonly required: readonly string[]
  /** Of fields that take, or list, one of a few words. */
  readonly words: ReadonlyMap<string, readonly string[]>
}

/** Minor numbers of the Kubernetes versions that the table holds, the oldest first. */
export const VERSIONS: readonly number[] = packed.versions
export const OLDEST = VERSIONS[0]!
export const NEWEST = VERSIONS.at(-1)!

export const isKnownIn = ({ since, until }: KnownSince, version: number): boolean =>
  since <= version && version <= until

type Entry = string | readonly (string | number)[]

/** What is packed in the file beside this one. */
interface PackedTypes {
  readonly kinds: Readonly<Record<string, Entry>>
  readonly types: Readonly<
    Record<string, { readonly fields: Readonly<Record<string, Entry>>; readonly required?: readonly string[] }>
  >
  /** By `<type>.<field>`. */
  readonly enums: Readonly<Record<string, readonly string[]>>
}

let table: PackedTypes | undefined

/** The whole table. */
export const packedTypes = (): PackedTypes => (table ??= unpack<PackedTypes>(packed.types))

const read = new Map<string, ObjectType>()

/** The type of a name in the table; undefined for JSON of any shape. Read once. */
export function objectType(name: string): ObjectType | undefined {
  const known = read.get(name)
  if (known) return known
  const { types, enums } = packedTypes()
  const entry = Object.hasOwn(types, name) ? types[name] : undefined
  if (entry === undefined) return undefined
  const fields = new Map(Object.entries(entry.fields).map(([field, one]) => [field, readEntry(one)]))
  const words = [...fields.keys()].flatMap(field => {
    const allowed = enums[`${name}.${field}`]
    return allowed ? [[field, allowed] as const] : []
  })
  const type = { name, fields, required: entry.required ?? [], words: new Map(words) }
  read.set(name, type)
  return type
}

/** By API version and kind: two texts are found faster than a third that is made of them. */
let entries: ReadonlyMap<string, ReadonlyMap<string, KnownSince>> | undefined

/** A kind of Kubernetes itself, whichever version serves it; undefined where none in the table does. */
export function kindEntry(apiVersion: string, kind: string): KnownSince | undefined {
  entries ??= readKinds()
  return entries.get(apiVersion)?.get(kind)
}

function readKinds(): ReadonlyMap<string, ReadonlyMap<string, KnownSince>> {
  const made = new Map<string, Map<string, KnownSince>>()
  for (const [key, entry] of Object.entries(packedTypes().kinds)) {
    const [apiVersion = '', kind = ''] = key.split(' ')
    const kinds = made.get(apiVersion) ?? new Map<string, KnownSince>()
    made.set(apiVersion, kinds.set(kind, readEntry(entry)))
  }
  return made
}

/** The API versions in which a version of Kubernetes serves a kind of a group, or of any, the stable ones first. */
export function servedVersions(group: string | undefined, kind: string, version: number): string[] {
  entries ??= readKinds()
  return [...entries]
    .flatMap(([apiVersion, kinds]) => {
      const entry = kinds.get(kind)
      const isOfGroup = group === undefined || groupOf(apiVersion) === group
      return entry && isOfGroup && isKnownIn(entry, version) ? [apiVersion] : []
    })
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
}

/** The kinds that a version of Kubernetes serves in an API version. */
export function kindsOf(apiVersion: string, version: number): string[] {
  entries ??= readKinds()
  const kinds = [...(entries.get(apiVersion) ?? [])]
  return kinds.flatMap(([kind, entry]) => (isKnownIn(entry, version) ? [kind] : []))
}

/** Whether Kubernetes serves something of a group; of `extensions` an earlier version did. */
export const isServedGroup = (group: string): boolean => group === 'extensions' || Object.hasOwn(KUBERNETES, group)

function readEntry(entry: Entry): KnownSince {
  if (typeof entry === 'string') return { type: readType(entry), since: OLDEST, until: NEWEST }
  const [type, since, until] = entry as [string, number, number]
  return { type: readType(type), since, until }
}

function readType(text: string): FieldType {
  if (text.startsWith('@')) return { is: 'object', type: text.slice(1) }
  if (text.startsWith('{}')) return { is: 'map', values: readType(text.slice(2)) }
  if (!text.startsWith('[')) return { is: 'scalar', scalar: text as Scalar }
  const end = text.indexOf(']')
  const keys = text.slice(1, end)
  return {
    is: 'list',
    items: readType(text.slice(end + 1)),
    keys: keys === '=' ? '=' : keys.split(' ').filter(Boolean),
  }
}

/** The JSON of a committed table, which is packed as base64 of Brotli. Ask at the first question: a start must not pay for it. */
export const unpack = <T>(packed: string): T =>
  JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString()) as T
