import type { Fleet } from '../fleet/model/fleet.ts'
import { CAPSULE_GROUP, homesOf, readCapsuleTenants } from '../fleet/tenancy/capsule.ts'
import type { Tree } from '../git/tree.ts'
import { withField } from '../kube/edit-node.ts'
import { at, canonical, itemsOf, type MapNode, type Node, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import type { Belonging } from './belongings.ts'
import { type Edits, textAt } from './edited-tree.ts'

/** The entries that an offboarding removes from the fleet's CapsuleConfigurations. */
interface CapsuleEntries {
  readonly edits: Edits
  readonly notes: readonly string[]
  /** Whether a change of an object is exactly this removal. */
  isExpected(before: KubeObject, after: KubeObject): boolean
}

/** Lists of Capsule's users: texts, or maps with a name. */
const LISTS = ['userGroups', 'userNames', 'users'] as const
const ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/
const ACCOUNTS_OF = /^system:serviceaccounts:([^:]+)$/

/**
 * Finds the entries for accounts of a leaving tenant: those in a namespace that no tenant keeps, whose accounts own no other
 * Tenant. Groups of people stay, with a note, because git does not show their other members. `edits`: the other edits; `after`:
 * the fleet with these edits.
 */
export function capsuleEntries(
  tree: Tree,
  edits: Edits,
  { before, after, going }: { readonly before: Fleet; readonly after: Fleet; readonly going: readonly Belonging[] },
): CapsuleEntries {
  const freed = freedNamespaces(before, after)
  const isFreed = (name: string) => freed.has((ACCOUNT.exec(name) ?? ACCOUNTS_OF.exec(name))?.[1] ?? '')
  const made = new Map(edits)
  const lines = new Map<string, Set<number>>()
  const removed = new Set<string>()
  const notes = new Set<string>()
  for (const object of configurations(after)) {
    for (const [field, items] of listsOf(object.root)) {
      const gone = items.filter(item => isFreed(nameOf(item)))
      if (gone.length === 0) continue
      const { file } = object.root.origin
      const found = gone.map(item => linesOf(tree, object.root, item))
      // Capsule replaces an empty list by its default, so the last entry cannot be removed
      if (gone.length === items.length || found.includes(undefined) || edits.has(file)) {
        const of = `spec.${field} of the CapsuleConfiguration ${idOf(object).name}`
        for (const item of gone) notes.add(`Remove ${nameOf(item)} from ${of} by hand.`)
        continue
      }
      lines.set(file, new Set([...(lines.get(file) ?? []), ...found.flatMap(one => one ?? [])]))
      for (const item of gone) removed.add(keyOf(object.root, field, item))
    }
    for (const name of people(going)) {
      const isListed = listsOf(object.root).some(([, items]) => items.some(item => nameOf(item) === name))
      if (isListed && !stillOwns(after, name))
        notes.add(
          `The CapsuleConfiguration ${idOf(object).name} still lists ${name}, which owned this Tenant only. Remove it if no one else needs it.`,
        )
    }
  }
  for (const [file, gone] of lines) {
    const text = textAt(tree, file)!
    made.set(
      file,
      text
        .split('\n')
        .filter((_, index) => !gone.has(index + 1))
        .join('\n'),
    )
  }
  return {
    edits: lines.size === 0 ? edits : made,
    notes: [...notes],
    isExpected: (was, is) =>
      lines.size > 0 && isConfiguration(was) && canonical(without(was.root, removed)) === canonical(is.root),
  }
}

const isConfiguration = (object: KubeObject): boolean =>
  idOf(object).kind === 'CapsuleConfiguration' && groupOf(idOf(object).apiVersion) === CAPSULE_GROUP

/** Each object once, because clusters may share one. */
function configurations({ nodes }: Fleet): KubeObject[] {
  const all = nodes.flatMap(node => (node.tenant === undefined ? node.objects.filter(isConfiguration) : []))
  return [...new Map(all.map(one => [`${one.root.origin.file} ${one.root.origin.line}`, one])).values()]
}

const itemsAt = (root: MapNode, field: string): readonly Node[] => {
  return itemsOf(at(root, ['spec', field]))
}

const listsOf = (root: MapNode) => LISTS.map(field => [field, itemsAt(root, field)] as const)

function nameOf(item: Node): string {
  return item.type === 'scalar' ? String(item.value) : (stringAt(item, ['name']) ?? '')
}

/** Namespaces that were in use on some cluster and are in use on none now: no object, no owner, no account that owns a Tenant. */
function freedNamespaces(before: Fleet, after: Fleet): ReadonlySet<string> {
  const namespaces = (fleet: Fleet) => {
    const objects = fleet.nodes.flatMap(({ objects }) => objects)
    const ids = objects.map(idOf)
    return new Set([
      ...fleet.clusters.flatMap(({ owners }) => [...(owners ?? [])].map(([namespace]) => namespace)),
      ...ids.flatMap(({ kind, name, namespace }) => (kind === 'Namespace' ? [name] : [namespace])),
      ...readCapsuleTenants(objects).flatMap(homesOf),
    ])
  }
  const left = namespaces(after)
  return new Set([...namespaces(before)].filter(namespace => namespace !== '' && !left.has(namespace)))
}

/** People and groups that own a removed Tenant. */
function people(going: readonly Belonging[]): Set<string> {
  const tenants = readCapsuleTenants(going.map(({ object }) => object))
  const names = tenants.flatMap(({ owners }) => owners.map(({ name }) => name))
  return new Set(names.filter(name => !ACCOUNT.test(name) && !ACCOUNTS_OF.test(name)))
}

const stillOwns = ({ nodes }: Fleet, name: string): boolean =>
  readCapsuleTenants(nodes.flatMap(({ objects }) => objects)).some(({ owners }) =>
    owners.some(one => one.name === name),
  )

/** The lines of a list item that occupies whole lines in its file; undefined if they cannot be determined with certainty. */
function linesOf(tree: Tree, { origin }: MapNode, item: Node): number[] | undefined {
  const { file, line, repository } = item.origin
  const text = file === origin.file && repository === origin.repository ? textAt(tree, file) : undefined
  const lines = text?.split('\n') ?? []
  const indent = /^( *)- [^[{&*|>]/.exec(lines[line - 1] ?? '')?.[1]
  if (indent === undefined) return undefined
  const more = lines.slice(line).findIndex(one => !one.startsWith(`${indent}  `))
  const length = 1 + (more === -1 ? lines.length - line : more)
  return Array.from({ length }, (_, index) => line + index)
}

const keyOf = ({ origin }: MapNode, field: string, item: Node) => `${origin.file} ${field} ${nameOf(item)}`

function without(root: MapNode, removed: ReadonlySet<string>): MapNode {
  const spec = at(root, ['spec'])
  if (spec?.type !== 'map') return root
  const lists = LISTS.flatMap(field => {
    const list = at(spec, [field])
    return list?.type === 'list'
      ? [[field, { ...list, items: list.items.filter(item => !removed.has(keyOf(root, field, item))) }] as const]
      : []
  })
  return withField(
    root,
    'spec',
    lists.reduce((map, [field, list]) => withField(map, field, list), spec),
  )
}
