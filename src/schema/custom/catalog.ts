import { unpack } from '../unpack.ts'
import packed from './catalog.json' with { type: 'json' }
import { type Definition, definitionIn, type PackedVersion } from './definition.ts'

type Group = Readonly<Record<string, Readonly<Record<string, PackedVersion>>>>

const GROUPS: Readonly<Record<string, string>> = packed.groups
const groups = new Map<string, Group>()
const known = new Map<string, Definition | undefined>()

/**
 * A kind of the ecosystem's projects as one of their releases defines it (NOTICE.md says which): the cluster may run another
 * release. A group is unpacked when one of its kinds is asked for.
 */
export function catalogued(group: string, kind: string): Definition | undefined {
  const key = `${group}/${kind}`
  if (!known.has(key)) {
    const versions = groupNamed(group)
    // names come from objects: what is not in the catalog is not kept
    if (!Object.hasOwn(versions, kind)) return undefined
    known.set(key, definitionIn(key, versions[kind]!))
  }
  return known.get(key)
}

const NOTHING: Group = {}

function groupNamed(name: string): Group {
  const made = groups.get(name)
  if (made) return made
  if (!Object.hasOwn(GROUPS, name)) return NOTHING
  const group = unpack<Group>(GROUPS[name]!)
  groups.set(name, group)
  return group
}
