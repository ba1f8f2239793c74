import { unpack } from '../unpack.ts'
import packed from './catalog.json' with { type: 'json' }
import { type Definition, definitionIn, type PackedVersion } from './definition.ts'
import { withOperatorKinds } from './with-operator-kinds.ts'

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
  return own && (own.known.get(kind) ?? read(own, group, kind))
}

function read(group: Group, name: string, kind: string): Definition | undefined {
  group.kinds ??= unpack<Kinds>(group.text)
  // names come from objects: what is not in the catalog is not kept
  if (!Object.hasOwn(group.kinds, kind)) return undefined
  const definition = definitionIn(`${name}/${kind}`, withOperatorKinds(kind, group.kinds[kind]!))
  group.known.set(kind, definition)
  return definition
}
