import { BailiwickError } from '../errors.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { FLEET_FILE } from '../fleet/model/fleet-config.ts'
import { capsuleTenantOf } from '../fleet/tenancy/capsule.ts'
import { at, canonical, type MapNode } from '../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../kube/object.ts'
import type { Placed } from './belongings.ts'
import { compareOffboarded } from './compare-offboarded.ts'
import { textAt } from './edited-tree.ts'
import type { IsDoomed } from './entries.ts'
import { assertExact, inexact, lookUp, type TransferScene, type TransferStep } from './exact-change.ts'
import { isNamedAfter, type Renaming, relabelled, successorOf } from './named-after.ts'
import { offboardInput } from './parse-offboard.ts'
import { removeObjects } from './remove-objects.ts'
import { renamedTenant } from './tenants-in-file.ts'
import { addDocuments, replaceTexts } from './text-edits.ts'

interface Names {
  readonly tenant: string
  /** The tenant's new name. */
  readonly name: string
}

const NOTHING = { edits: new Map<string, string>(), objects: [], notes: [] }
/** Annotations by which a cloud provider identifies an account by name. */
const CLOUD = /^(?:eks\.amazonaws\.com\/|iam\.gke\.io\/|azure\.workload\.identity\/)/

/**
 * Plans the next change that renames a tenant: first add successors of its accounts, bindings and sources; then switch the label and
 * all references; then remove the old objects. Namespaces and Kustomizations keep their names, because Kubernetes cannot rename a
 * namespace, and a Kustomization with another name would delete what the old one applied.
 */
export function planRename({ tenant, name }: Names, scene: TransferScene): TransferStep {
  const { before, placed } = scene
  const [old, known] = [tenant, name].map(one => ownedBy(before, one))
  if (old!.size > 0 && known!.size > 0) {
    throw offboardInput(
      `tenant ${name} already exists`,
      'Choose another name, or hand its namespaces over with `hand-over`.',
    )
  }
  const owned = old!.size > 0 ? old! : known!
  const renaming: Renaming = { from: tenant, to: name, isOwn: (...place) => owned.has(place.join(' ')) }
  refuseCapsule(placed, renaming)
  const named = placed.filter(one => isNamedAfter(one, renaming))
  const missing = named.filter(one => !hasSuccessor(one, renaming, placed))
  if (old!.size > 0) return missing.length > 0 ? arrival(missing, renaming, scene) : switched(named, renaming, scene)
  const left = named.filter(one => !missing.includes(one))
  return left.length === 0 ? { ...NOTHING, stage: 'done' } : rest(left, renaming, scene)
}

/** The namespaces of a tenant, as `<cluster> <namespace>`. */
const ownedBy = ({ clusters }: Fleet, tenant: string): ReadonlySet<string> =>
  new Set(
    clusters.flatMap(({ name, owners = new Map<string, string>() }) =>
      [...owners].flatMap(([namespace, owner]) => (owner === tenant ? [`${name} ${namespace}`] : [])),
    ),
  )

function refuseCapsule(placed: readonly Placed[], { from, isOwn }: Renaming): void {
  const found = placed.find(
    ({ node, object }) =>
      idOf(object).kind === 'Namespace' &&
      isOwn(node.cluster, idOf(object).name) &&
      capsuleTenantOf(object) !== undefined,
  )
  if (!found) return
  throw new BailiwickError(
    'offboard-layout',
    `${display(idOf(found.object))}: belongs to a Capsule Tenant, and Capsule does not give a namespace to another one`,
    { fix: `Onboard a new tenant, move the workloads, and offboard ${from}.`, origin: found.object.root.origin },
  )
}

/** Whether the successor exists on the same cluster. Throws if a different object has its name. */
function hasSuccessor(one: Placed, renaming: Renaming, placed: readonly Placed[]): boolean {
  const { root } = successorOf(one, renaming)
  const wanted = JSON.stringify(idOf({ root, trail: [] }))
  const found = placed.find(
    ({ node, object }) => node.cluster === one.node.cluster && JSON.stringify(idOf(object)) === wanted,
  )
  if (!found) return false
  const without = (map: MapNode) =>
    canonical(relabelled({ node: one.node, object: { root: map, trail: [] } }, renaming, () => false).root)
  if (without(found.object.root) === without(root)) return true
  throw new BailiwickError(
    'offboard-layout',
    `${display(idOf(found.object))}: already exists and differs from ${display(idOf(one.object))}`,
    { fix: `Rename it, or make both alike, then run the command again.`, origin: found.object.root.origin },
  )
}

function arrival(missing: readonly Placed[], renaming: Renaming, scene: TransferScene): TransferStep {
  const made = missing.map(one => ({ one, ...successorOf(one, renaming) }))
  const copies = made.map(({ one, texts }) => ({ origin: one.object.root.origin, texts }))
  const edits = addDocuments(scene.tree, scene.fleetUrl, copies)
  const twins = lookUp(made.map(({ one, root }) => [one, root] as const))
  assertExact(scene, edits, {
    becomes: placed => [placed.object.root, ...(twins(placed) ?? [])],
    ownerOf: (_cluster, _namespace, owner) => owner,
    userOf: ({ identity }) => identity.user,
  })
  const accounts = missing.filter(({ object }) => hasCloudIdentity(object))
  return {
    stage: 'arrival',
    edits,
    objects: made.map(({ one, root }) => ({ cluster: one.node.cluster, root })),
    notes: accounts.map(
      ({ node, object }) =>
        `the cloud's trust policy must name ServiceAccount ${idOf(object).namespace}/${renaming.to} on ${node.cluster} too`,
    ),
  }
}

function hasCloudIdentity({ root }: KubeObject): boolean {
  const map = at(root, ['metadata', 'annotations'])
  return map?.type === 'map' && [...map.fields.keys()].some(key => CLOUD.test(key))
}

function switched(named: readonly Placed[], renaming: Renaming, scene: TransferScene): TransferStep {
  const { before, tree, fleetUrl, placed } = scene
  const old = new Set(
    named.map(({ node, object }) => {
      const { apiVersion, kind, namespace } = idOf(object)
      return `${node.cluster} ${groupOf(apiVersion)} ${kind} ${namespace}`
    }),
  )
  const changed = placed.flatMap(one => {
    const hasOne = (...what: readonly string[]) => old.has([one.node.cluster, ...what].join(' '))
    const { root, texts } = relabelled(one, renaming, hasOne)
    return texts.length > 0 ? [{ one, root, texts }] : []
  })
  const file = textAt(tree, FLEET_FILE)
  const config = file === undefined ? undefined : renamedTenant(file, renaming.from, renaming.to)
  const edits = new Map(
    replaceTexts(
      tree,
      fleetUrl,
      changed.flatMap(({ texts }) => texts),
    ),
  )
  if (config !== undefined && config !== file) edits.set(FLEET_FILE, config)
  const now = lookUp(changed.map(({ one, root }) => [one, root] as const))
  const hasAccount = (cluster: string, namespace: string) => old.has(`${cluster}  ServiceAccount ${namespace}`)
  assertExact(scene, edits, {
    becomes: one => now(one) ?? [one.object.root],
    ownerOf: (_cluster, _namespace, owner) => (owner === renaming.from ? renaming.to : owner),
    userOf: ({ cluster, namespace, identity: { user } }) =>
      user === `system:serviceaccount:${namespace}:${renaming.from}` && hasAccount(cluster, namespace)
        ? `system:serviceaccount:${namespace}:${renaming.to}`
        : user,
  })
  const isHidden = before.nodes.some(node => node.tenant === renaming.from && node.source.opaque !== undefined)
  return {
    stage: 'switch',
    edits,
    objects: changed.map(({ one, root }) => ({ cluster: one.node.cluster, root })),
    notes:
      isHidden && old.size > 0
        ? [
            `the repositories of the tenant were not read: what names the account or the source ${renaming.from} there must name ${renaming.to} before the last pull request is merged`,
          ]
        : [],
  }
}

function rest(left: readonly Placed[], renaming: Renaming, scene: TransferScene): TransferStep {
  const { before, tree, placed, rendered } = scene
  const going = new Set(left.map(({ node, object }) => `${node.key} ${JSON.stringify(idOf(object))}`))
  const isDoomed: IsDoomed = ({ node, object }) => going.has(`${node.key} ${JSON.stringify(idOf(object))}`)
  refuseUsed(
    placed.filter(one => !isDoomed(one)),
    renaming,
  )
  const edits = removeObjects(tree, placed, isDoomed, renaming.from)
  const problem = compareOffboarded(before, rendered(edits), isDoomed, new Set())
  if (problem !== undefined) throw inexact(edits, problem)
  return {
    stage: 'rest',
    edits,
    objects: left.map(({ node, object }) => ({ cluster: node.cluster, root: object.root })),
    notes: [
      `deploy keys on GitHub keep the name ${renaming.from} in their title: run rotate-key ${renaming.to}, then delete the old key by hand`,
    ],
  }
}

/** Refuses to remove an object that another object still refers to. */
function refuseUsed(staying: readonly Placed[], renaming: Renaming): void {
  for (const one of staying) {
    const [text] = relabelled(one, renaming, () => true).texts
    if (!text) continue
    throw new BailiwickError(
      'offboard-layout',
      `${display(idOf(one.object))}: still names ${renaming.from}, which is removed`,
      { fix: `Write ${renaming.to} there, then run the command again.`, origin: text.origin },
    )
  }
}
