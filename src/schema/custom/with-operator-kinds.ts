import type { Json } from '../../kube/node.ts'
import type { PackedVersion } from './definition.ts'

/** Fields of Flux's kinds that name an object. */
const NAMING: ReadonlyMap<string, string> = new Map([
  ['Alert', 'eventSources'],
  ['Receiver', 'resources'],
])
/** A kind that only lists of Flux's own kinds have. */
const OF_FLUX = 'Kustomization'
const OPERATOR_KINDS = ['FluxInstance', 'ResourceSet', 'ResourceSetInputProvider']

type Versions = Readonly<Record<string, PackedVersion>>

/**
 * The versions of a kind as Flux Operator installs them: it adds its own kinds to those about which Flux
 * notifies (internal/builder/templates.go). Others are the same.
 */
export function withOperatorKinds(kind: string, versions: Versions): Versions {
  const field = NAMING.get(kind)
  if (field === undefined) return versions
  const path = ['spec', field, '', 'kind']
  return Object.fromEntries(
    Object.entries(versions).map(([name, [schema, hasStatus]]) => [name, [withWords(schema, path), hasStatus]]),
  )
}

/** A schema that allows these kinds in a field, too; '' in the path stands for the items of a list. */
function withWords(schema: Json | undefined, [name, ...rest]: readonly string[]): Json {
  const map = mapOf(schema)
  if (name === undefined)
    return Array.isArray(map.enum) && map.enum.includes(OF_FLUX)
      ? { ...map, enum: [...map.enum, ...OPERATOR_KINDS] }
      : map
  if (name === '') return { ...map, items: withWords(map.items, rest) }
  const properties = mapOf(map.properties)
  return { ...map, properties: { ...properties, [name]: withWords(properties[name], rest) } }
}

const mapOf = (json: Json | undefined): { readonly [key: string]: Json } =>
  typeof json === 'object' && json !== null && !Array.isArray(json) ? json : {}
