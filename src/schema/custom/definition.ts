import { oncePer } from '../../base/once-per.ts'
import { at, type Json, type MapNode, type Node, stringAt, toJson } from '../../kube/node.ts'
import { isUnknown } from '../core/problem.ts'
import { unpack } from '../types-table.ts'
import packed from './catalog.json' with { type: 'json' }
import { type CustomSchema, schemaOf } from './custom-schema.ts'

/** A version of a custom kind. */
export interface CustomVersion {
  readonly schema: CustomSchema
  /** What is applied does not write the status. */
  readonly hasStatus: boolean
}

/** A kind as its CustomResourceDefinition declares it. */
export interface Definition {
  /** `<group>/<Kind>`. */
  readonly kind: string
  /** Versions that are served, in its own order; none where the definition serves none. */
  readonly served: readonly string[]
  /** Undefined where the version is not served, or has no schema. */
  version(name: string): CustomVersion | undefined
}

/** The definition in a rendered CustomResourceDefinition; undefined if unreadable. Cached by object. */
export const definitionOf = oncePer((root: MapNode): Definition | undefined => {
  const list = at(root, ['spec', 'versions'])
  const [group, kind] = [stringAt(root, ['spec', 'group']), stringAt(root, ['spec', 'names', 'kind'])]
  if (list?.type !== 'list' || group === undefined || kind === undefined) return undefined
  const named = list.items.flatMap(node => {
    const name = stringAt(node, ['name'])
    return name === undefined ? [] : [[name, node] as const]
  })
  // without a version that states whether it is served, a cluster cannot have this definition
  if (!named.some(([, node]) => at(node, ['served']) !== undefined)) return undefined
  const versions = new Map(named.filter(([, node]) => mayBeServed(at(node, ['served']))))
  const made = new Map<string, CustomVersion | undefined>()
  const make = (name: string): CustomVersion | undefined => {
    const node = versions.get(name)
    if (node === undefined || isUnknown(at(node, ['served']) ?? node)) return undefined
    const schema = at(node, ['schema', 'openAPIV3Schema'])
    if (schema?.type !== 'map') return undefined
    return { schema: schemaOf(toJson(schema)), hasStatus: at(node, ['subresources', 'status']) !== undefined }
  }
  return {
    kind: `${group}/${kind}`,
    served: [...versions.keys()],
    version(name) {
      if (!made.has(name)) made.set(name, make(name))
      return made.get(name)
    },
  }
})

/** Undefined and null are false, as for the API server; a value that only the cluster knows may be true. */
function mayBeServed(served: Node | undefined): boolean {
  return served !== undefined && (isUnknown(served) || (served.type === 'scalar' && served.value === true))
}

/** A version of a kind as the catalog has it. */
export type PackedVersion = readonly [schema: Json, hasStatus: boolean]

/** The definition of a kind in the catalog. */
export function definitionIn(kind: string, versions: Readonly<Record<string, PackedVersion>>): Definition {
  const made = new Map<string, CustomVersion>()
  return {
    kind,
    served: Object.keys(versions),
    version(name) {
      const known = made.get(name)
      if (known !== undefined || !Object.hasOwn(versions, name)) return known
      const [schema, hasStatus] = versions[name]!
      const version = { schema: schemaOf(schema), hasStatus: hasStatus === true }
      made.set(name, version)
      return version
    },
  }
}

type Kinds = Readonly<Record<string, Readonly<Record<string, PackedVersion>>>>

/** The kinds of an API group, unpacked when one of them is asked for. */
interface Group {
  readonly text: string
  kinds?: Kinds
  readonly known: Map<string, Definition>
}

const GROUPS: ReadonlyMap<string, Group> = new Map(
  Object.entries(packed.groups).map(([name, text]) => [name, { text, known: new Map() }]),
)

/**
 * A kind of the ecosystem's projects as one of their releases defines it (NOTICE.md says which): the cluster may run another
 * release.
 */
export function catalogued(group: string, kind: string): Definition | undefined {
  const own = GROUPS.get(group)
  return own && (own.known.get(kind) ?? readCatalog(own, group, kind))
}

function readCatalog(group: Group, name: string, kind: string): Definition | undefined {
  group.kinds ??= unpack<Kinds>(group.text)
  // unknown names are not cached, because they come from objects
  if (!Object.hasOwn(group.kinds, kind)) return undefined
  const definition = definitionIn(`${name}/${kind}`, withOperatorKinds(kind, group.kinds[kind]!))
  group.known.set(kind, definition)
  return definition
}

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
function withOperatorKinds(kind: string, versions: Versions): Versions {
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
