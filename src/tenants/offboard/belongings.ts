import { BailiwickError } from '../../base/errors.ts'
import type { Cluster, Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { applierKinds } from '../../fleet/model/kustomization-spec.ts'
import { CAPSULE_GROUP, homesOf, readCapsuleTenants } from '../../fleet/tenancy/capsule.ts'
import type { Tree } from '../../git/tree.ts'
import { TENANT_LABEL_KEY } from '../../kube/flux-kinds.ts'
import { at, canonical, itemsOf, type MapNode, type Node, stringAt, withField } from '../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { readRole } from '../../kube/rbac/binding.ts'
import { accountOf } from '../../kube/rbac/policy-rule.ts'
import { type Edits, textAt } from './edited-tree.ts'
import type { OffboardStage } from './request.ts'

/** An object that the platform renders on a cluster. */
export interface Placed {
  readonly node: FleetNode
  readonly object: KubeObject
}

/** One that belongs to the tenant, and the change that removes it. */
export interface Belonging extends Placed {
  readonly stage: Extract<OffboardStage, 'workloads' | 'rest'>
}

/** Whose things are looked for on a cluster. */
interface Owner {
  readonly tenant: string
  readonly namespaces: ReadonlySet<string>
  readonly cluster: Cluster
}

/**
 * Everything that the platform renders for a tenant on these clusters. What the tenant's own Kustomizations apply is not
 * part of it: they prune that themselves. Throws `offboard-layout` for a binding that the tenant shares with others.
 */
export function belongings(fleet: Fleet, tenant: string, clusters: readonly string[]): Belonging[] {
  const own = fleet.nodes.filter(node => node.tenant === tenant && clusters.includes(node.cluster))
  const keys = new Set(own.map(({ key }) => key))
  const lone = loneSources(fleet, own, tenant)
  return fleet.clusters.flatMap(cluster => {
    if (!clusters.includes(cluster.name)) return []
    const owners = [...(cluster.owners ?? [])].filter(([, owner]) => owner === tenant)
    const owner: Owner = { tenant, namespaces: new Set(owners.map(([namespace]) => namespace)), cluster }
    return fleet.nodes
      .filter(node => node.cluster === cluster.name && node.tenant === undefined)
      .flatMap(node =>
        node.objects.flatMap((object): Belonging[] => {
          if (isApplied(node, object, keys)) return [{ node, object, stage: 'workloads' }]
          if (isOf(object, owner)) return [{ node, object, stage: isApplier(object) ? 'workloads' : 'rest' }]
          return lone.has(sourceKey(node, object)) ? [{ node, object, stage: 'workloads' }] : []
        }),
      )
  })
}

/** Whether an object is the Kustomization of one of the tenant's nodes. */
function isApplied({ hub, cluster }: FleetNode, object: KubeObject, keys: ReadonlySet<string>): boolean {
  const { kind, namespace, name } = idOf(object)
  return isApplier(object) && kind === 'Kustomization' && keys.has(`${hub ?? cluster}/${namespace}/${name}`)
}

/** A controller applies it as an account, and its finalizer deletes as that account. */
function isApplier(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return applierKinds.includes(`${groupOf(apiVersion)}/${kind}`)
}

/** Sources in a namespace of the platform that only the tenant's nodes follow: no prune needs a source. */
function loneSources(fleet: Fleet, own: readonly FleetNode[], tenant: string): Set<string> {
  const others = new Set(fleet.nodes.filter(node => node.tenant !== tenant).map(sourceOf))
  return new Set(own.map(sourceOf).filter(key => !others.has(key)))
}

const sourceOf = ({ hub, cluster, source }: FleetNode) => `${hub ?? cluster} ${source.id}`

function sourceKey({ cluster }: FleetNode, object: KubeObject): string {
  const { kind, namespace, name } = idOf(object)
  return `${cluster} ${kind}/${namespace}/${name}`
}

function isOf(object: KubeObject, owner: Owner): boolean {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const group = groupOf(apiVersion)
  if (group === '' && kind === 'Namespace') return owner.namespaces.has(name)
  if (owner.namespaces.has(namespace)) return true
  if (stringAt(object.root, ['metadata', 'labels', TENANT_LABEL_KEY]) === owner.tenant) return true
  if (group === 'capsule.clastix.io' && kind === 'Tenant') return name === owner.tenant
  if (group !== 'rbac.authorization.k8s.io') return false
  return kind.endsWith('Binding') ? isBindingOf(object, owner) : isImpersonatorOf(object, owner)
}

/** A role that only allows to impersonate accounts of the tenant, for Capsule's proxy. Its bindings are removed too. */
function isImpersonatorOf(object: KubeObject, { namespaces }: Owner): boolean {
  const rules = readRole(object)?.rules ?? []
  return (
    rules.length > 0 &&
    rules.every(({ verbs, resourceNames }) => {
      const isOwn = (name: string) => namespaces.has(accountOf(name)?.namespace ?? '')
      return verbs.every(verb => verb === 'impersonate') && resourceNames.length > 0 && resourceNames.every(isOwn)
    })
  )
}

/** A right that outlives an account goes to everyone who can create one of that name. */
function isBindingOf(object: KubeObject, { tenant, namespaces, cluster }: Owner): boolean {
  const subjects = at(object.root, ['subjects'])
  if (subjects?.type !== 'list') return false
  const own = subjects.items.filter(subject => namespaces.has(namespaceOf(subject)))
  const [first] = own
  if (!first) return false
  if (own.length === subjects.items.length) return true
  throw new BailiwickError(
    'offboard-layout',
    `${display(idOf(object))} on ${cluster.name}: binds accounts of tenant ${tenant} and others`,
    { fix: `Remove the accounts of ${tenant} from its subjects, then run the command again.`, origin: first.origin },
  )
}

/** The namespace of the accounts that a binding's subject names; '' for any other subject. */
function namespaceOf(subject: Node): string {
  const name = stringAt(subject, ['name']) ?? ''
  if (stringAt(subject, ['kind']) === 'ServiceAccount') return stringAt(subject, ['namespace']) ?? ''
  const [, account, group, flux] =
    /^(?:system:serviceaccount:([^:]+):.*|system:serviceaccounts:(.+)|gotk:([^:]+):.*)$/.exec(name) ?? []
  return account ?? group ?? flux ?? ''
}

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
