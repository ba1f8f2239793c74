import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { unpack } from '../../../../src/schema/types-table.ts'
import { pack } from '../../../../tools/oracles/pack.ts'

// node test/rules/schema/custom/add-to-catalog.ts CRD.yaml...: puts the served versions of these CustomResourceDefinitions into the
// catalog. NOTICE.md beside it says of which release they are.

type Schema = Record<string, unknown>
interface Crd {
  readonly kind: string
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly {
      readonly name: string
      readonly served: boolean
      readonly schema: { readonly openAPIV3Schema: Schema }
      readonly subresources?: { readonly status?: unknown }
    }[]
  }
}

/** Without descriptions; `properties` holds names that people chose. */
function bare(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map(item => bare(item))
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([name]) => isNames || name !== 'description')
  return Object.fromEntries(kept.map(([name, inner]) => [name, bare(inner, !isNames && name === 'properties')]))
}

const CATALOG = join(import.meta.dirname, '../../../../src/schema/custom/catalog.json')
const { groups } = JSON.parse(readFileSync(CATALOG, 'utf8')) as { groups: Record<string, string> }
const documents = process.argv.slice(2).flatMap(path => [...parseAllDocuments(readFileSync(path, 'utf8'))])
for (const document of documents) {
  const { kind, spec } = document.toJS() as Crd
  if (kind !== 'CustomResourceDefinition') continue
  const kinds = groups[spec.group] === undefined ? {} : unpack<Record<string, unknown>>(groups[spec.group]!)
  kinds[spec.names.kind] = Object.fromEntries(
    spec.versions
      .filter(({ served }) => served)
      .map(({ name, schema, subresources }) => {
        const { status: _, ...properties } = (schema.openAPIV3Schema.properties ?? {}) as Schema
        const open = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } }
        const root = { ...schema.openAPIV3Schema, properties: { ...open, ...properties } }
        return [name, [bare(root), subresources?.status !== undefined]]
      }),
  )
  groups[spec.group] = pack(kinds)
}
const sorted = Object.fromEntries(Object.entries(groups).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(CATALOG, `${JSON.stringify({ groups: sorted }, undefined, 2)}\n`)
