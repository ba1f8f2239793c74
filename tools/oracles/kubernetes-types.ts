import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCluster, type TestCluster } from '../envtest/start.ts'
import { pack } from './pack.ts'

/**
 * Writes src/schema/kubernetes-types.json: what each Kubernetes version accepts in objects of its own kinds, from the
 * `api/openapi-spec/swagger.json` of its releases (module k8s.io/kubernetes, Apache License 2.0). Arguments: one
 * `MINOR=FILE` per version, for example `36=swagger.json`. Words that fields take are asked of the API server of the tests.
 */

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly $ref?: string
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
}

type Definitions = Readonly<Record<string, Schema>>

/** A field as the table has it: its type, and the versions that know it where those are not all. */
export type FieldEntry = string | [type: string, since: number, until: number]

export interface TypesTable {
  readonly versions: number[]
  readonly kinds: Record<string, FieldEntry>
  readonly types: Record<string, { readonly fields: Record<string, FieldEntry>; readonly required?: string[] }>
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** Types that are no maps of fields, by how they are written in an object. */
const SPECIAL: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'int-or-string',
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  [`${META}Time`]: 'time',
  [`${META}MicroTime`]: 'time',
  [`${META}FieldsV1`]: 'any',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'any',
}

const shortName = (name: string): string =>
  name.replace(/^io\.k8s\.(api|apimachinery\.pkg\.apis)\./, '').replace(/^io\.k8s\./, '')

/** The type of a field in one word: a scalar, `@Type`, `[...]` of a list with its keys or `=`, `{}` of a map. */
function typeOf(schema: Schema): string {
  const { $ref, type, format, items, additionalProperties } = schema
  if ($ref !== undefined) {
    const name = $ref.slice('#/definitions/'.length)
    return SPECIAL[name] ?? `@${shortName(name)}`
  }
  if (type === 'array') {
    const listType = schema['x-kubernetes-list-type']
    const keys = schema['x-kubernetes-list-map-keys']
    const mark = listType === 'map' && keys ? keys.join(' ') : listType === 'set' ? '=' : ''
    return `[${mark}]${typeOf(items ?? {})}`
  }
  if (type === 'object' && additionalProperties) return `{}${typeOf(additionalProperties)}`
  if (type === 'integer') return format === 'int32' ? 'int32' : 'int64'
  if (type === 'string' && format === 'byte') return 'bytes'
  if (type === 'string' || type === 'boolean' || type === 'number') return type
  return 'any'
}

/** The newest type that all versions agree on, but for keys of lists that an older one does not have. */
function merged(types: readonly string[]): string {
  const newest = types.at(-1)!
  if (types.every(type => type === newest)) return newest
  const plain = (type: string) => type.replaceAll(/\[[^\]]*\]/g, '[]')
  return types.every(type => plain(type) === plain(newest)) ? plain(newest) : 'any'
}

/** Throws where a kind or a field went away and came back. */
function entry(seen: ReadonlyMap<number, string>, versions: readonly number[]): FieldEntry {
  const known = [...seen.keys()].sort((a, b) => a - b)
  const [first, last] = [known[0]!, known.at(-1)!]
  if (last - first !== known.length - 1) throw new Error(`versions ${known} have a hole`)
  const type = merged(known.map(version => seen.get(version)!))
  const isEverywhere = first === versions[0] && last === versions.at(-1)
  return isEverywhere ? type : [type, first, last]
}

function note<K, V>(map: Map<K, Map<number, V>>, key: K, version: number, value: V): void {
  const inner = map.get(key) ?? new Map<number, V>()
  inner.set(version, value)
  map.set(key, inner)
}

/** What has metadata of its own, and is no list. */
const isObject = ({ properties = {} }: Schema) => properties.metadata?.$ref === `#/definitions/${META}ObjectMeta`

/** Subresources, questions that are only answered, and what is only read: the API server has nothing to patch. */
const NEVER_APPLIED =
  /^(?:v1 (?:Binding|ComponentStatus)|policy\/\S+ Eviction|autoscaling\/\S+ Scale|auth(?:entication|orization)\.k8s\.io\/\S+ \w+)$/

/** The table of several versions, given by their minor number. */
export function typesTable(swagger: ReadonlyMap<number, Definitions>): TypesTable {
  const versions = [...swagger.keys()].sort((a, b) => a - b)
  const kinds = new Map<string, Map<number, string>>()
  const fields = new Map<string, Map<string, Map<number, string>>>()
  const required = new Map<string, Map<number, readonly string[]>>()
  for (const version of versions) {
    const definitions = swagger.get(version)!
    for (const [name, schema] of Object.entries(definitions)) {
      const short = shortName(name)
      if (isObject(schema)) {
        for (const { group, version: api, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
          const key = `${group === '' ? '' : `${group}/`}${api} ${kind}`
          if (!NEVER_APPLIED.test(key)) note(kinds, key, version, `@${short}`)
        }
      }
      if (schema.properties === undefined) continue
      const ofType = fields.get(short) ?? new Map<string, Map<number, string>>()
      for (const [field, one] of Object.entries(schema.properties)) note(ofType, field, version, typeOf(one))
      fields.set(short, ofType)
      note(required, short, version, schema.required ?? [])
    }
  }
  const table: TypesTable = { versions, kinds: {}, types: {} }
  for (const [kind, seen] of [...kinds].sort(byName)) table.kinds[kind] = entry(seen, versions)
  const reached = reachable(Object.values(table.kinds).map(nameIn), fields, versions)
  for (const name of [...reached].sort()) {
    // without fields it is JSON of any shape
    if (!fields.has(name)) continue
    const entries = [...fields.get(name)!].sort(byName).map(([field, seen]) => [field, entry(seen, versions)] as const)
    const lists = [...(required.get(name)?.values() ?? [])]
    const always = lists.length === 0 ? [] : lists[0]!.filter(field => lists.every(list => list.includes(field))).sort()
    table.types[name] = { fields: Object.fromEntries(entries), ...(always.length > 0 ? { required: always } : {}) }
  }
  return table
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)
const nameIn = (one: FieldEntry) => /@(.+)$/.exec(typeof one === 'string' ? one : one[0])?.[1] ?? ''

function reachable(
  from: readonly string[],
  fields: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<number, string>>>,
  versions: readonly number[],
): Set<string> {
  const reached = new Set<string>()
  const open = [...from]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === '' || reached.has(name)) continue
    reached.add(name)
    for (const seen of fields.get(name)?.values() ?? []) open.push(nameIn(entry(new Map(seen), versions)))
  }
  return reached
}

/** Words of a status say nothing about what is applied, and those of signals differ between operating systems. */
const NOT_APPLIED = /Status\.|\.stopSignal$/

/** The words that fields of the table take, by `<type>.<field>`, as a running API server publishes them. */
export async function readWords(
  { request }: Pick<TestCluster, 'request'>,
  types: Readonly<Record<string, unknown>>,
): Promise<Record<string, string[]>> {
  const words = new Map<string, string[]>()
  const { body } = await request('GET', '/openapi/v3')
  const { paths } = body as unknown as { paths: Record<string, { serverRelativeURL: string }> }
  for (const [path, { serverRelativeURL }] of Object.entries(paths)) {
    if (!/^api(?:s\/.*\/v\d|\/v1)/.test(path)) continue
    const { body: document } = await request('GET', serverRelativeURL)
    const { components } = document as unknown as { components?: { schemas?: Definitions } }
    for (const [name, { properties = {} }] of Object.entries(components?.schemas ?? {})) {
      for (const [field, schema] of Object.entries(properties)) {
        const found = (schema.enum ?? schema.items?.enum)?.filter(word => word !== '')
        const key = `${shortName(name)}.${field}`
        if (found && Object.hasOwn(types, shortName(name)) && !NOT_APPLIED.test(key)) words.set(key, found)
      }
    }
  }
  return Object.fromEntries([...words].sort(byName))
}

if (process.argv[1] === import.meta.filename) {
  const given = process.argv.slice(2).map((argument): [number, Definitions] => {
    const [minor = '', file = ''] = argument.split('=')
    return [Number(minor), (JSON.parse(readFileSync(file, 'utf8')) as { definitions: Definitions }).definitions]
  })
  const table = typesTable(new Map(given))
  const cluster = await startCluster({ workerRbac: false })
  try {
    const path = join(import.meta.dirname, '../../src/schema/kubernetes-types.json')
    const { versions, ...rest } = table
    const types = pack({ ...rest, enums: await readWords(cluster, table.types) })
    writeFileSync(path, `${JSON.stringify({ versions, types })}\n`)
  } finally {
    await cluster.stop()
  }
}
