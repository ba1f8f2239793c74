import { BailiwickError } from '../errors.ts'
import type { Cluster, Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { FLEET_FILE } from '../fleet/model/fleet-config.ts'
import { capsuleTenantOf } from '../fleet/tenancy/capsule.ts'
import { TENANT_LABEL_KEY } from '../flux/kinds.ts'
import { at, canonical, type MapNode, type Node, stringAt } from '../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { userOfAccount } from '../kube/rbac/groups-of.ts'
import type { Placed } from './belongings.ts'
import { compareOffboarded } from './compare-offboarded.ts'
import { textAt } from './edited-tree.ts'
import type { IsDoomed } from './entries.ts'
import { assertExact, inexact, lookUp, type TransferScene, type TransferStep } from './exact-change.ts'
import { offboardInput } from './parse-offboard.ts'
import { removeObjects } from './remove-objects.ts'
import { rewrite } from './rewrite.ts'
import { namespaceOf } from './subject-namespace.ts'
import { givenNamespace } from './tenants-in-file.ts'
import { addDocuments, replaceTexts } from './text-edits.ts'

interface HandOver {
  readonly namespace: string
  /** The tenant that receives the namespace. */
  readonly tenant: string
}

/**
 * Plans the next change that hands a namespace over to another tenant. The first change sets the new owner and gives the new tenant's
 * accounts their rights. The former tenant keeps its rights until the second change, so that it can delete what it applied.
 */
export function planHandOver(request: HandOver, scene: TransferScene): TransferStep {
  const { namespace, tenant } = request
  const { clusters } = scene.before
  const places = clusters.filter(({ owners }) => owners?.has(namespace))
  if (places.length === 0) {
    throw offboardInput(
      `namespace ${namespace} does not belong to a tenant`,
      'Check the names with `bailiwick access`.',
    )
  }
  const foreign = places.filter(({ owners }) => owners!.get(namespace) !== tenant)
  return foreign.length > 0 ? switched(request, foreign, scene) : rest(request, scene)
}

const isBinding = (object: KubeObject) =>
  groupOf(idOf(object).apiVersion) === 'rbac.authorization.k8s.io' && idOf(object).kind.endsWith('Binding')

function subjectsOf({ root }: KubeObject): readonly Node[] {
  const subjects = at(root, ['subjects'])
  return subjects?.type === 'list' ? subjects.items : []
}

function switched(request: HandOver, foreign: readonly Cluster[], scene: TransferScene): TransferStep {
  const { namespace, tenant } = request
  const { before, tree, fleetUrl } = scene
  const names = new Set(foreign.map(({ name }) => name))
  const placed = scene.placed.filter(({ node }) => names.has(node.cluster))
  const from = [...new Set(foreign.map(({ owners }) => owners!.get(namespace)!))].sort()
  for (const cluster of foreign) assertKnown(tenant, cluster)
  refuseCapsule(request, placed)
  refuseRightsElsewhere(request, placed, before)
  const relabelled = placed.flatMap(one => {
    const { kind, namespace: of, name } = idOf(one.object)
    if (of !== namespace && !(kind === 'Namespace' && name === namespace)) return []
    const { root, texts } = rewrite(one.object.root, (text, path) =>
      path.length === 3 && path[0] === 'metadata' && path[2] === TENANT_LABEL_KEY && from.includes(text)
        ? tenant
        : undefined,
    )
    return texts.length > 0 ? [{ one, root, texts }] : []
  })
  const rights = placed
    .filter(one => givesRights(one, request, before))
    .flatMap(one =>
      rightsThere(one, request, placed).map(root => ({ one: namespaceOn(one.node, request, placed), root })),
    )
  const texts = replaceTexts(
    tree,
    fleetUrl,
    relabelled.flatMap(one => one.texts),
  )
  const copies = rights.map(({ one, root }) => ({ origin: one.object.root.origin, root }))
  const edits = new Map([...texts, ...addDocuments(tree, fleetUrl, copies, texts)])
  const file = textAt(tree, FLEET_FILE)
  const config = file === undefined ? undefined : givenNamespace(file, namespace, tenant)
  if (config !== undefined && config !== file) edits.set(FLEET_FILE, config)
  const now = lookUp(relabelled.map(({ one, root }) => [one, root] as const))
  const added = lookUp(rights.map(({ one, root }) => [one, root] as const))
  assertExact(scene, edits, {
    becomes: one => [...(now(one) ?? [one.object.root]), ...(added(one) ?? [])],
    ownerOf: (cluster, of, owner) => (of === namespace && names.has(cluster) ? tenant : owner),
    userOf: ({ identity }) => identity.user,
  })
  return {
    stage: 'switch',
    edits,
    objects: [...relabelled, ...rights].map(({ one, root }) => ({ cluster: one.node.cluster, root })),
    notes: notesOf(request, from, placed, before),
  }
}

function assertKnown(tenant: string, { name, owners }: Cluster): void {
  if ([...(owners ?? [])].some(([, owner]) => owner === tenant)) return
  throw offboardInput(`tenant ${tenant} is not on ${name}`, `Onboard tenant ${tenant} on ${name} first.`)
}

function refuseCapsule({ namespace }: HandOver, placed: readonly Placed[]): void {
  const found = placed.find(
    ({ object }) =>
      idOf(object).kind === 'Namespace' && idOf(object).name === namespace && capsuleTenantOf(object) !== undefined,
  )
  if (!found) return
  throw new BailiwickError(
    'offboard-layout',
    `Namespace ${namespace}: belongs to a Capsule Tenant, and Capsule does not give a namespace to another one`,
    { fix: 'Make a new namespace for the other tenant, and move the workloads.', origin: found.object.root.origin },
  )
}

/** The new tenant also receives the namespace's accounts, so these must have no rights elsewhere. */
function refuseRightsElsewhere({ namespace, tenant }: HandOver, placed: readonly Placed[], before: Fleet): void {
  for (const { node, object } of placed.filter(one => isBinding(one.object))) {
    const place = idOf(object).namespace
    if (place === namespace || ownerOn(before, node.cluster, place) === tenant) continue
    const subject = subjectsOf(object).find(one => namespaceOf(one) === namespace)
    if (!subject) continue
    throw new BailiwickError(
      'offboard-layout',
      `${display(idOf(object))} on ${node.cluster}: gives an account of ${namespace} rights outside of it, and tenant ${tenant} would get them`,
      { fix: `Remove the account from its subjects, then run the command again.`, origin: subject.origin },
    )
  }
}

const ownerOn = ({ clusters }: Fleet, cluster: string, namespace: string): string | undefined =>
  clusters.find(({ name }) => name === cluster)?.owners?.get(namespace)

/** Whether an object is a RoleBinding in one of the tenant's namespaces for an account that its Kustomizations use. */
function givesRights({ node, object }: Placed, { tenant }: HandOver, before: Fleet): boolean {
  const { kind, namespace } = idOf(object)
  if (kind !== 'RoleBinding' || !isBinding(object) || ownerOn(before, node.cluster, namespace) !== tenant) return false
  const users = new Set(
    before.nodes.filter(one => one.tenant === tenant && one.cluster === node.cluster).map(one => one.identity.user),
  )
  return subjectsOf(object).some(subject => {
    const name = stringAt(subject, ['name']) ?? ''
    const isAccount = stringAt(subject, ['kind']) === 'ServiceAccount'
    return users.has(isAccount ? userOfAccount(stringAt(subject, ['namespace']) ?? '', name) : name)
  })
}

/** The platform's Namespace object. The copied bindings are written to its file, so they are rendered with it. */
function namespaceOn({ cluster }: FleetNode, { namespace }: HandOver, placed: readonly Placed[]): Placed {
  const found = placed.find(
    ({ node, object }) =>
      node.cluster === cluster && idOf(object).kind === 'Namespace' && idOf(object).name === namespace,
  )
  if (found) return found
  throw new BailiwickError('offboard-layout', `Namespace ${namespace} is not in the fleet on ${cluster}`, {
    fix: 'Add it to the fleet, then run the command again.',
  })
}

/** Copies of a binding and its Role in the namespace; empty if both exist there already. */
function rightsThere(binding: Placed, { namespace, tenant }: HandOver, placed: readonly Placed[]) {
  const home = idOf(binding.object).namespace
  const role = stringAt(binding.object.root, ['roleRef', 'name'])
  const roles =
    stringAt(binding.object.root, ['roleRef', 'kind']) === 'Role'
      ? placed.filter(
          ({ node, object }) =>
            node.cluster === binding.node.cluster &&
            idOf(object).kind === 'Role' &&
            idOf(object).namespace === home &&
            idOf(object).name === role,
        )
      : []
  return [...roles, binding].flatMap(one => {
    const there = (name: string) =>
      placed.find(
        ({ node, object }) =>
          node.cluster === one.node.cluster &&
          idOf(object).kind === idOf(one.object).kind &&
          idOf(object).namespace === namespace &&
          idOf(object).name === name,
      )
    const copy = (name: string) =>
      rewrite(one.object.root, (_, path) => {
        if (path[0] !== 'metadata' || path.length !== 2) return undefined
        return path[1] === 'namespace' ? namespace : path[1] === 'name' ? name : undefined
      }).root
    const { name } = idOf(one.object)
    const known = there(name)
    if (!known) return [copy(name)]
    if (isSame(known.object.root, copy(name))) return []
    if (one !== binding) throw taken(known, one)
    const other = `${tenant}-${name}`
    const second = there(other)
    if (!second) return [copy(other)]
    if (isSame(second.object.root, copy(other))) return []
    throw taken(second, one)
  })
}

/** Whether two objects are equal apart from the tenant's label. */
function isSame(one: MapNode, other: MapNode): boolean {
  const bare = (root: MapNode) =>
    canonical(rewrite(root, (_, path) => (path.at(-1) === TENANT_LABEL_KEY ? '' : undefined)).root)
  return bare(one) === bare(other)
}

function taken({ object }: Placed, one: Placed): BailiwickError {
  return new BailiwickError(
    'offboard-layout',
    `${display(idOf(object))}: already exists and differs from ${display(idOf(one.object))}`,
    { fix: 'Rename one of them, then run the command again.', origin: object.root.origin },
  )
}

function notesOf(
  { namespace, tenant }: HandOver,
  from: readonly string[],
  placed: readonly Placed[],
  before: Fleet,
): string[] {
  const secrets = placed.flatMap(({ object }) => {
    const id = idOf(object)
    return id.kind === 'Secret' && id.namespace === namespace ? [display(id)] : []
  })
  const nodes = before.nodes.filter(
    node => node.namespace === namespace && node.tenant !== undefined && from.includes(node.tenant),
  )
  return [
    `tenant ${tenant} can then read every Secret of ${namespace}. Rotate the values in them${secrets.length > 0 ? ` (${[...new Set(secrets)].join(', ')})` : ''}`,
    ...nodes.map(
      ({ key, source }) => `${key} becomes a Kustomization of tenant ${tenant}: it goes on deploying ${source.url}`,
    ),
    `what a repository of ${from.join(', ')} still applies into ${namespace} must be removed there before the last pull request is merged`,
  ]
}

function rest({ namespace, tenant }: HandOver, scene: TransferScene): TransferStep {
  const { before, tree, placed, rendered } = scene
  const isForeign = (cluster: string, subject: Node) => {
    const owner = ownerOn(before, cluster, namespaceOf(subject))
    return owner !== undefined && owner !== tenant
  }
  const going = placed.filter(({ node, object }) => {
    if (!isBinding(object) || idOf(object).namespace !== namespace) return false
    const subjects = subjectsOf(object)
    const foreign = subjects.filter(one => isForeign(node.cluster, one))
    if (foreign.length === 0 || foreign.length === subjects.length) return foreign.length > 0
    throw new BailiwickError(
      'offboard-layout',
      `${display(idOf(object))} on ${node.cluster}: binds accounts of tenant ${tenant} and of others`,
      {
        fix: `Remove the accounts of others from its subjects, then run the command again.`,
        origin: foreign[0]!.origin,
      },
    )
  })
  if (going.length === 0) return { stage: 'done', edits: new Map(), objects: [], notes: [] }
  for (const { node, object } of placed) {
    const owner = ownerOn(before, node.cluster, idOf(object).namespace)
    if (owner === undefined || owner === tenant) continue
    if (stringAt(object.root, ['spec', 'targetNamespace']) !== namespace) continue
    throw new BailiwickError(
      'offboard-layout',
      `${display(idOf(object))} on ${node.cluster}: still applies into ${namespace}`,
      { fix: 'Change its spec.targetNamespace, then run the command again.', origin: object.root.origin },
    )
  }
  const keys = new Set(going.map(({ node, object }) => `${node.key} ${JSON.stringify(idOf(object))}`))
  const isDoomed: IsDoomed = ({ node, object }) => keys.has(`${node.key} ${JSON.stringify(idOf(object))}`)
  const edits = removeObjects(tree, placed, isDoomed, tenant)
  const problem = compareOffboarded(before, rendered(edits), isDoomed, new Set())
  if (problem !== undefined) throw inexact(edits, problem)
  const objects = going.map(({ node, object }) => ({ cluster: node.cluster, root: object.root }))
  return { stage: 'rest', edits, objects, notes: [] }
}
