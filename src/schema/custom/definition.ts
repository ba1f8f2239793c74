import { at, type Json, type MapNode, stringAt, toJson } from '../../kube/node.ts'
import { type CustomSchema, schemaOf } from './custom-schema.ts'

/** A version of a custom kind. */
export interface CustomVersion {
  readonly schema: CustomSchema
  /** What is applied does not write the status. */
  readonly hasStatus: boolean
}

/** What a CustomResourceDefinition says of its kind. */
export interface Definition {
  /** `<group>/<Kind>`. */
  readonly kind: string
  /** Versions that are served, in its own order. */
  readonly served: readonly string[]
  /** Undefined where the version is not served, or has no schema. */
  version(name: string): CustomVersion | undefined
}

const read = new WeakMap<MapNode, Definition>()

/** What a rendered CustomResourceDefinition says; undefined where that is not readable. The same one for the same object. */
export function definitionOf(root: MapNode): Definition | undefined {
  const known = read.get(root)
  if (known) return known
  const list = at(root, ['spec', 'versions'])
  const [group, kind] = [stringAt(root, ['spec', 'group']), stringAt(root, ['spec', 'names', 'kind'])]
  if (list?.type !== 'list' || group === undefined || kind === undefined) return undefined
  const isServed = (node: (typeof list.items)[number]) => {
    const served = at(node, ['served'])
    return served?.type === 'scalar' && served.value === true
  }
  const versions = new Map(list.items.filter(isServed).map(node => [stringAt(node, ['name']) ?? '', node]))
  // no version at all: this is no definition that a cluster could have
  if (versions.size === 0) return undefined
  const made = new Map<string, CustomVersion | undefined>()
  const make = (name: string): CustomVersion | undefined => {
    const node = versions.get(name)
    const schema = at(node, ['schema', 'openAPIV3Schema'])
    if (schema?.type !== 'map') return undefined
    return { schema: schemaOf(toJson(schema)), hasStatus: at(node, ['subresources', 'status']) !== undefined }
  }
  const definition: Definition = {
    kind: `${group}/${kind}`,
    served: [...versions.keys()],
    version(name) {
      if (!made.has(name)) made.set(name, make(name))
      return made.get(name)
    },
  }
  read.set(root, definition)
  return definition
}

/** A version of a kind as the catalog has it. */
export type PackedVersion = readonly [schema: Json, hasStatus: boolean]

/** What the catalog says of a kind. */
export function definitionIn(kind: string, versions: Readonly<Record<string, PackedVersion>>): Definition {
  return {
    kind,
    served: Object.keys(versions),
    version(name) {
      const [schema, hasStatus] = Object.hasOwn(versions, name) ? versions[name]! : []
      return schema === undefined ? undefined : { schema: schemaOf(schema), hasStatus: hasStatus === true }
    },
  }
}
