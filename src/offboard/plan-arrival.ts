import { BailiwickError } from '../errors.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { stringAt } from '../kube/node.ts'
import { display, idOf } from '../kube/object.ts'
import type { Belonging, Placed } from './belongings.ts'
import { compareArrived } from './compare-arrived.ts'
import { type Counterpart, copyObjects } from './copy-objects.ts'
import type { Edits } from './edited-tree.ts'
import type { IsDoomed } from './entries.ts'
import { cleanPath } from './resolve-path.ts'

interface Journey {
  readonly tenant: string
  readonly from: string
  readonly to: string
}

interface Scene {
  readonly before: Fleet
  readonly tree: Tree
  /** What the platform renders for the tenant on the first cluster. */
  readonly going: readonly Belonging[]
  readonly isDoomed: IsDoomed
  /** Every object that is written in the fleet's own files. */
  readonly placed: readonly Placed[]
  /** The fleet after edits. */
  readonly rendered: (edits: Edits) => Fleet
}

/**
 * The edits after which a tenant is on another cluster exactly as it is on the first. Throws `offboard-layout` where that cluster has
 * something of it, or no such edit is known.
 */
export function planArrival({ tenant, from, to }: Journey, scene: Scene): { edits: Edits; notes: readonly string[] } {
  const { before, tree, going, isDoomed, placed, rendered } = scene
  const nodes = new Map(going.map(({ node }) => [node.key, counterpartOf(before, node, to)]))
  refuseKnown(before, going, to)
  refuseMissingRoles(before, going, to)
  const notes = sealedNotes(going, nodes, to)
  const places = [...nodes].map(([key, node]): Counterpart => {
    const first = before.nodes.find(one => one.key === key)!
    return { from: cleanPath(first.path), to: cleanPath(node.path) }
  })
  // what is deeper is more its own
  places.sort((a, b) => b.from.length - a.from.length)
  const edits = copyObjects(tree, placed, isDoomed, places)
  const owners = before.clusters.find(({ name }) => name === from)?.owners ?? new Map<string, string>()
  const problem = compareArrived(before, rendered(edits), {
    ...{ tenant, to },
    objects: new Map(
      [...Map.groupBy(going, ({ node }) => nodes.get(node.key)!.key)].map(([key, of]) => [
        key,
        of.map(({ object }) => object),
      ]),
    ),
    nodes: new Map(
      before.nodes.filter(node => node.tenant === tenant && node.cluster === from).map(node => [keyOn(node, to), node]),
    ),
    namespaces: [...owners].filter(([, owner]) => owner === tenant).map(([namespace]) => namespace),
  })
  if (problem !== undefined) throw cannotCopy(going[0]!, to, edits, problem)
  return { edits, notes }
}

const keyOn = ({ key }: FleetNode, cluster: string): string => `${cluster}${key.slice(key.indexOf('/'))}`

/** The Kustomization of the same name on the other cluster: there, the objects are rendered by it. */
function counterpartOf(fleet: Fleet, node: FleetNode, to: string): FleetNode {
  const key = keyOn(node, to)
  const found = fleet.nodes.find(one => one.key === key)
  if (found && node.hub === undefined && found.hub === undefined && found.source.url === node.source.url) return found
  throw new BailiwickError(
    'offboard-layout',
    `${node.key} renders objects of the tenant, and ${to} has no Kustomization ${node.namespace}/${node.name} of this repository`,
    { fix: `Add it to ${to}, or onboard the tenant there.`, origin: node.kustomization.root.origin },
  )
}

function refuseKnown(fleet: Fleet, going: readonly Belonging[], to: string): void {
  const names = new Set(going.map(({ object }) => JSON.stringify(idOf(object))))
  for (const node of fleet.nodes.filter(({ cluster }) => cluster === to)) {
    const object = node.objects.find(one => names.has(JSON.stringify(idOf(one))))
    if (!object) continue
    throw new BailiwickError('offboard-layout', `${display(idOf(object))}: is on ${to} already`, {
      fix: `Remove it from ${to}, then run the command again.`,
      origin: object.root.origin,
    })
  }
}

/** A ClusterRole that the tenant is bound to and that only the first cluster renders: there, the tenant could do nothing. */
function refuseMissingRoles(fleet: Fleet, going: readonly Belonging[], to: string): void {
  const own = new Set(going.map(({ object }) => object))
  const roles = (isOn: (cluster: string) => boolean) =>
    fleet.nodes
      .filter(({ cluster, tenant }) => tenant === undefined && isOn(cluster))
      .flatMap(({ objects }) => objects.filter(one => idOf(one).kind === 'ClusterRole' && !own.has(one)))
  const there = new Set(roles(cluster => cluster === to).map(one => idOf(one).name))
  const bound = new Set(going.map(({ object }) => stringAt(object.root, ['roleRef', 'name'])))
  const missing = roles(cluster => cluster !== to).find(one => bound.has(idOf(one).name) && !there.has(idOf(one).name))
  if (!missing) return
  const { file, line } = missing.root.origin
  throw new BailiwickError(
    'offboard-layout',
    `${display(idOf(missing))}: is not on ${to}, and the tenant is bound to it`,
    {
      fix: `Add ${file} to ${to} first, then run the command again.`,
      origin: { repository: '', file, line, column: 1 },
    },
  )
}

/** The key of one cluster opens nothing on another. */
function sealedNotes(going: readonly Belonging[], nodes: ReadonlyMap<string, FleetNode>, to: string): string[] {
  const sealed = going.filter(({ object }) => object.sops !== undefined || object.sealed !== undefined)
  for (const { node, object } of sealed) {
    const root = nodes.get(node.key)!.kustomization.root
    if (stringAt(root, ['spec', 'decryption', 'provider']) === 'sops') continue
    throw new BailiwickError(
      'offboard-layout',
      `${display(idOf(object))}: is encrypted, and ${nodes.get(node.key)!.key} does not decrypt`,
      {
        fix: 'Add `decryption: {provider: sops, secretRef: {name: sops-age}}` to its spec.',
        origin: root.origin,
      },
    )
  }
  return sealed.map(({ object }) => `${to} must have a key that decrypts ${display(idOf(object))}`)
}

function cannotCopy({ object }: Belonging, to: string, edits: Edits, problem: string): BailiwickError {
  const { file, line } = object.root.origin
  const files = [...edits.keys()].sort().join(', ')
  return new BailiwickError(
    'offboard-layout',
    `${display(idOf(object))}: no edit of ${files || file} adds the objects of the tenant to ${to} as they are: ${problem}`,
    {
      fix: 'Onboard the tenant on that cluster, then offboard it from the other one with --cluster.',
      origin: { repository: '', file, line, column: 1 },
    },
  )
}
