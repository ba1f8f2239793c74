import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAllDocuments } from 'yaml'
import type { Json } from '../../src/kube/node.ts'
import type { PackedVersion } from '../../src/schema/custom/definition.ts'
import { pack } from './pack.ts'

/**
 * Writes src/schema/custom/catalog.json and NOTICE.md: the schemas of the CustomResourceDefinitions of projects, from
 * the source of a release (its Go module, or its repository). Arguments: `PROJECT@VERSION=DIR`, where DIR holds
 * definitions in YAML files; NOTICE is taken from the closest folder above that has one.
 */

type JsonMap = { [key: string]: Json }
type Catalog = Map<string, Map<string, Record<string, PackedVersion>>>

/** For people only, or said by the defaults of other keywords. */
const LEFT_OUT = new Set(['description', 'title', 'example', 'externalDocs', 'x-kubernetes-map-type'])

function shortened(json: Json, isNames = false): Json {
  if (Array.isArray(json)) return json.map(item => shortened(item))
  if (typeof json !== 'object' || json === null) return json
  const kept = Object.entries(json).filter(([key]) => isNames || !LEFT_OUT.has(key))
  return Object.fromEntries(
    kept.map(([key, value]) => {
      const isValue = !isNames && ['default', 'enum', 'required'].includes(key)
      return [key, isValue ? value : shortened(value, !isNames && key === 'properties')]
    }),
  )
}

interface Version {
  readonly name: string
  readonly served: boolean
  readonly schema?: { readonly openAPIV3Schema?: JsonMap }
  readonly subresources?: { readonly status?: unknown }
}

interface Definition {
  readonly kind?: string
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly Version[]
  }
}

/** What controllers write is not compared. */
function withoutStatus(schema: JsonMap): JsonMap {
  const { status: _, ...properties } = (schema.properties ?? {}) as JsonMap
  return { ...schema, properties }
}

function addDefinition({ spec: { group, names, versions } }: Definition, catalog: Catalog): void {
  const served = versions.filter(version => version.served && version.schema?.openAPIV3Schema)
  const entries = served.map(({ name, schema, subresources }): [string, PackedVersion] => {
    const short = shortened(withoutStatus(schema!.openAPIV3Schema!))
    return [name, [short, subresources?.status !== undefined]]
  })
  const kinds = catalog.get(group) ?? new Map<string, Record<string, PackedVersion>>()
  if (entries.length > 0) kinds.set(names.kind, Object.fromEntries(entries))
  catalog.set(group, kinds)
}

function definitionsIn(dir: string): Definition[] {
  return globSync('**/*.{yaml,yml}', { cwd: dir })
    .sort()
    .flatMap(file =>
      parseAllDocuments(readFileSync(join(dir, file), 'utf8')).map(one => one.toJS() as Definition | null),
    )
    .filter(one => one?.kind === 'CustomResourceDefinition') as Definition[]
}

const { positionals } = parseArgs({ allowPositionals: true })
const catalog: Catalog = new Map()
const sources = new Map<string, number>()
for (const argument of positionals) {
  const [project = '', dir = ''] = argument.split('=')
  const definitions = definitionsIn(dir)
  if (definitions.length === 0) throw new Error(`${dir} has no CustomResourceDefinition`)
  for (const definition of definitions) addDefinition(definition, catalog)
  sources.set(project, (sources.get(project) ?? 0) + definitions.length)
}
const groups = Object.fromEntries(
  [...catalog].sort(([a], [b]) => (a < b ? -1 : 1)).map(([group, kinds]) => [group, pack(Object.fromEntries(kinds))]),
)
const home = join(import.meta.dirname, '../../src/schema/custom')
writeFileSync(join(home, 'catalog.json'), `${JSON.stringify({ groups }, null, 2)}\n`)
const rows = [...sources].map(([project, count]) => {
  const [name, version] = project.split('@')
  return `| ${name} | ${version} | ${count} |`
})
const table = ['| Project | Release | Kinds |', '|---|---|---|', ...rows].join('\n')
const path = join(home, 'NOTICE.md')
const before = readFileSync(path, 'utf8')
writeFileSync(path, before.replace(/\| Project [\s\S]*?\n(?=\n)/, `${table}\n`))
