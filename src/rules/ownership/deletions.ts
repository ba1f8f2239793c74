import { codeWord, type Message, message, part } from '../../base/message.ts'
import { componentsOf } from '../../fleet/bootstrap/flux-instance.ts'
import { hashOf, lostCause, moveCause, objectCause } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { CAPSULE_GROUP } from '../../fleet/tenancy/capsule.ts'
import { FLUX_INSTANCE, fluxKind, KUSTOMIZATION } from '../../kube/flux-kinds.ts'
import { type FluxMarks, fluxMarks } from '../../kube/flux-marks.ts'
import { stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { type Rule, Subject, type Violation } from '../model/rule.ts'

/** A cluster before and after a change. */
export interface ClusterChange {
  readonly cluster: string
  readonly before: FleetIndex
  readonly index: FleetIndex
}

/** From this many objects on, and if more than half are removed, a deletion is reported. */
const MANY = 10

/**
 * A change removes what runs. A tenant's own removal is a warning; the fleet's removal of a tenant's objects is a
 * violation, also of the whole tenant: the files do not show whether it is intended.
 */
export const massDeletion: Rule = {
  id: 'mass-deletion',
  severity: 'critical',
  title: 'Deletion of running objects',
  why: 'Removing or renaming a Kustomization deletes everything that it applied. Removing a Namespace deletes everything in it, and removing a Capsule Tenant deletes its namespaces, including data. Removing a CustomResourceDefinition deletes all objects of its kind. Git restores manifests, not volumes.',
  source: 'kustomize-controller: spec.prune, spec.deletionPolicy',
  docs: "To rename or move a Kustomization, set `prune: false` or `deletionPolicy: Orphan` in an earlier change. To remove a tenant, write `/bailiwick offboard TENANT`. You can also waive the rule for its Kustomization and Namespace, or merge with an override. Or set the rule to `warning` in .github/bailiwick.yaml. A deletion in a tenant's own repository is a warning. Moved files and objects that another Kustomization now renders are not deletions. A tenant's Namespace is one if the Kustomization that applied it is removed.",
  *checkNode(node, { index, before }) {
    if (!before || !prunesNow(node)) return
    const old = before.objectsOf(node.key)
    const gone = deletedObjects(node, old, index)
    if (node.tenant === undefined) {
      yield* removedTenant(gone, node, before, index)
      yield* removedDefinitions(gone, node, index)
    } else yield* emptied(gone, node, old.length)
  },
  *checkRemoved(node, { index, before }) {
    if (!before || !deletesAtEnd(node)) return
    const heir = pruner(node, before, index)
    if (!heir) return
    if (node.tenant === undefined) {
      const old = before.objectsOf(node.key)
      yield* removedDefinitions(deletedObjects(heir, old, index), heir, index)
      // one that another Kustomization renders from now on may be deleted first: Flux does not wait for that
      const applied = old.filter(object => !isKept(object))
      yield* removedTenant(applied, heir, before, index, node)
      return
    }
    const isOwn = before.node(node.parent)?.tenant !== undefined
    const count = before.objectsOf(node.key).length
    const unseen = node.digest === '' || node.source.opaque !== undefined
    if (isOwn ? count < MANY : count === 0 && !unseen && !node.error) return
    yield removed(
      node,
      heir,
      index,
      isOwn,
      unseen ? message`all objects that it applied` : message`${count} ${count === 1 ? 'object' : 'objects'}`,
    )
  },
}

/**
 * How a finding about a removed object stands to others: those that need the object follow. Where the change only moves it
 * to the namespace that a transformer writes now, all that it moves are one cause.
 */
export function removalOf(
  object: KubeObject,
  { key }: FleetNode,
  index: FleetIndex,
): Pick<Violation, 'origin' | 'isBefore' | 'leads' | 'follows'> {
  const own = objectCause(idOf(object))
  const { file, line } = object.root.origin
  const isMoved = (one: KubeObject) =>
    one.root.origin.line === line && one.root.origin.file === file && kindOf(one) === kindOf(object)
  const move = moveCause(object)
  // asked of the index, because the node may be another one than the rule runs for
  // the line of a transformer that wrote its name is none to edit: the object's own is one for all clusters
  const origin = move === undefined ? {} : { origin: object.root.origin }
  if (move === undefined || !index.objectsOf(key).some(isMoved)) return { ...origin, isBefore: true, leads: [own] }
  return { isBefore: true, leads: [own, move], follows: [move] }
}

/** What a tenant’s Kustomization deletes: everything, or most of many objects. */
function* emptied(gone: readonly KubeObject[], node: FleetNode, count: number): Iterable<Violation> {
  const isMass = node.objects.length === 0 || (gone.length >= MANY && gone.length * 2 > count)
  if (gone.length === 0 || !isMass) return
  yield Subject.ofNode(node).violation(['spec', 'path'], `deletes ${gone.length}`, {
    level: 'warning',
    severity: 'high',
    message: message`${objectPart('Kustomization', node.namespace, node.name)} would delete ${gone.length} of the ${count} objects that it applied before this change, and apply ${node.objects.length}. Allowed: a change that keeps most of its objects.`,
    fix: message`Confirm that all of them are to be deleted, or set ${codeWord('spec.prune')} to false to keep them.`,
  })
}

function removed(node: FleetNode, heir: FleetNode, index: FleetIndex, isOwn: boolean, what: Message): Violation {
  const who = objectPart('Kustomization', node.namespace, node.name)
  return new Subject({ node: heir, object: node.kustomization }).violation(['metadata', 'name'], 'removed', {
    ...removalOf(node.kustomization, heir, index),
    ...(isOwn ? { level: 'warning' as const, severity: 'high' as const } : {}),
    message: message`${who} of tenant ${quoted('tenant', node.tenant ?? '')} is removed or renamed, so Flux would delete ${what}. Allowed: keeping it, or removing it after a change that sets ${codeWord('prune: false')}.`,
    fix: message`Restore the Kustomization under its name. To keep its objects, set ${codeWord('prune: false')} or ${codeWord('deletionPolicy: Orphan')} in an earlier change. To remove the tenant, waive mass-deletion for this Kustomization or merge with an override.`,
  })
}

/**
 * Namespaces of tenants and Capsule Tenants that a Kustomization of the platform would delete with their content. `by`: it
 * is removed with all that it applied, and `node` removes it.
 */
function* removedTenant(
  gone: readonly KubeObject[],
  node: FleetNode,
  before: FleetIndex,
  index: FleetIndex,
  by?: FleetNode,
): Iterable<Violation> {
  for (const object of gone) {
    if (!isTenants(object, node, before, index)) continue
    const { kind, name } = idOf(object)
    const owner = before.ownerOf(node.cluster, name) ?? ''
    const lost =
      kind === 'Namespace'
        ? message`everything in it, of tenant ${quoted('tenant', owner)}`
        : message`every namespace that Capsule created for it`
    const removal = removalOf(object, node, index)
    const homes = kind === 'Namespace' ? [] : (before.capsuleHomesOf(node.cluster).get(name) ?? [])
    yield new Subject({ node, object }).violation(['metadata', 'name'], 'removed', {
      ...removal,
      leads: [...(removal.leads ?? []), ...homes.map(lostCause)],
      message: message`${by ? message`${objectPart('Kustomization', by.namespace, by.name)} is removed or renamed, so Flux would delete ${objectPart(kind, '', name)}. With it,` : message`${objectPart(kind, '', name)} is removed. With it,`} Kubernetes would delete ${lost}. Allowed: a change that keeps it.`,
      fix: message`Restore the ${part('value', by ? 'Kustomization' : kind)}, or add the annotation ${codeWord('kustomize.toolkit.fluxcd.io/prune: disabled')} in an earlier change. To remove the tenant, waive mass-deletion for this ${part('value', kind)} or merge with an override.`,
    })
  }
}

function isTenants(object: KubeObject, node: FleetNode, before: FleetIndex, index: FleetIndex): boolean {
  const kind = kindOf(object)
  if (kind === `${CAPSULE_GROUP}/Tenant`) return true
  const { name } = idOf(object)
  if (kind !== '/Namespace' || before.ownerOf(node.cluster, name) === undefined) return false
  // a removed Kustomization in it is finding enough
  const inside = before.rendered(node.cluster, KUSTOMIZATION, name)
  return inside.every(({ object: child }) => {
    const was = before.nodeOf(node.cluster, child)
    return !was?.tenant || !was.prune || was.suspend || index.node(was.key) !== undefined
  })
}

const DEFINITION = 'apiextensions.k8s.io/CustomResourceDefinition'

/** CustomResourceDefinitions that Flux would delete although objects of their kind stay. `node`: the one that prunes. */
function* removedDefinitions(gone: readonly KubeObject[], node: FleetNode, index: FleetIndex): Iterable<Violation> {
  for (const object of gone) {
    if (kindOf(object) !== DEFINITION) continue
    const kind = `${stringAt(object.root, ['spec', 'group'])}/${stringAt(object.root, ['spec', 'names', 'kind'])}`
    // another definition of the kind does not store its objects, but keeps the kind known
    if (index.definitionsOf(node.cluster, kind).length > 0 || isOfOperator(kind, node, index)) continue
    const left = index.renderedAnywhere(node.cluster, kind)
    const [first] = left
    if (first === undefined) continue
    const { namespace, name } = idOf(first.object)
    const tenants = [...new Set(left.flatMap(one => one.node.tenant ?? []))].sort()
    yield new Subject({ node, object }).violation(['metadata', 'name'], 'removed', {
      isBefore: true,
      cause: hashOf(['definitions', node.namespace, node.name]),
      message: message`${objectPart('CustomResourceDefinition', '', idOf(object).name)} is removed, so Kubernetes would delete all objects of its kind${tenants.length > 0 ? message`, of ${tenants.length === 1 ? 'tenant' : 'tenants'} ${quoted('tenant', tenants.join(', '))} too` : ''}. The API server would then refuse the ${left.length} that ${left.length === 1 ? 'is' : 'are'} still rendered, such as ${objectPart(idOf(first.object).kind, namespace, name)}. Allowed: a change that keeps it.`,
      fix: message`Restore the CustomResourceDefinition. If a chart installs it from now on, add the annotation ${codeWord('kustomize.toolkit.fluxcd.io/prune: disabled')} in an earlier change.`,
    })
  }
}

/** Whether the Flux Operator installs the definition by a FluxInstance: it adopts what Flux applied of itself before. */
function isOfOperator(kind: string, { cluster }: FleetNode, index: FleetIndex): boolean {
  if (!fluxKind(kind)?.served) return false
  return index.platformAnywhere(cluster, FLUX_INSTANCE).some(({ object }) => {
    return componentsOf(object).some(name => name.startsWith(`${kind.slice(0, kind.indexOf('.'))}-`))
  })
}

/** Whether a Kustomization's objects are deleted with it (kustomize-controller, finalize). */
export const deletesAtEnd = ({ kustomization, prune, suspend }: FleetNode): boolean =>
  !suspend && prunesAtEnd(kustomization, prune)

/** Whether a Kustomization deletes its objects when it is removed, by its `deletionPolicy`. */
export function prunesAtEnd({ root }: KubeObject, prune: boolean): boolean {
  const policy = stringAt(root, ['spec', 'deletionPolicy']) ?? 'MirrorPrune'
  return policy === 'MirrorPrune' ? prune : policy !== 'Orphan'
}

/** Whether Flux deletes what a Kustomization no longer renders. */
export const prunesNow = ({ prune, suspend, error, digest }: FleetNode): boolean =>
  prune && !suspend && !error && digest !== ''

/** The Kustomization that removes a node: the closest remaining one above it, if all between prune. */
export function pruner(node: FleetNode, before: FleetIndex, index: FleetIndex): FleetNode | undefined {
  if (isKept(node.kustomization)) return undefined
  for (let key = node.parent, steps = 0; key !== undefined && steps < 64; steps++) {
    const now = index.node(key)
    if (now) return prunesNow(now) ? now : undefined
    const was = before.node(key)
    if (!was || !deletesAtEnd(was) || isKept(was.kustomization)) return undefined
    key = was.parent
  }
  return undefined
}

const KEPT: FluxMarks = new Map([
  ['kustomize.toolkit.fluxcd.io/prune', ['disabled']],
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
])

/** What a node rendered before and no node of its cluster renders now, except objects that disable pruning. */
export const deletedObjects = (node: FleetNode, old: readonly KubeObject[], index: FleetIndex): KubeObject[] =>
  lostObjects(node.cluster, old, node.objects, index).filter(object => !isKept(object))

/** The objects of `old` that are not among `now`, and that no node of the cluster renders. */
export function lostObjects(
  cluster: string,
  old: readonly KubeObject[],
  now: readonly KubeObject[],
  index: FleetIndex,
): KubeObject[] {
  if (old === now) return []
  const same = new Set(now)
  return old.filter(object => {
    if (same.has(object)) return false
    const { namespace, name } = idOf(object)
    return index.versionsOf(cluster, kindOf(object), namespace, name).length === 0
  })
}

/** Whether Flux keeps an object that is no longer in git. */
export function isKept(object: KubeObject): boolean {
  return fluxMarks(object, KEPT).length > 0
}
