import { listed, message } from '../../base/message.ts'
import { isManifest, isWithin } from '../../fleet/bootstrap/sync-roots.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { Cluster, FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig } from '../../fleet/model/fleet-config.ts'
import { refKey } from '../../fleet/model/source-ref.ts'
import { declaredIn, TENANT_LABEL } from '../../fleet/tenancy/tenancy.ts'
import { artifactPath } from '../../flux/artifact.ts'
import type { TreeEntry } from '../../git/tree.ts'
import { type Rule, Subject, type Violation, type Wording } from '../model/rule.ts'

/** A tenant before a change stays one for its verdict, and the change that ends this is a finding. */
export const tenantRemoved: Rule = {
  id: 'tenant-removed',
  severity: 'critical',
  title: 'Tenant removed while its objects remain',
  why: "A label, a Capsule Tenant or .github/bailiwick.yaml gives a namespace to a tenant. If that is removed and the namespace stays, its content becomes the platform's and tenancy rules no longer apply.",
  source: 'flux create tenant: the label toolkit.fluxcd.io/tenant',
  docs: "Remove the tenant's Namespaces, everything rendered into them, and the tenant's declaration together. The complete removal is a warning. To keep a namespace for the platform, waive the rule or merge with an override. Remove a cluster with its directory. Required approvals: a cluster that would no longer be evaluated, starts from another folder or changes its name.",
  *checkCluster(cluster, { index, before, config }) {
    const root = index.rootOf(cluster.name)
    if (!before || !root) return
    const { formerOwners = new Map<string, string>() } = cluster
    const gone = new Map<string, string[]>()
    for (const [namespace, tenant] of new Map([
      ...undeclaredOwners(cluster.name, config, index, before),
      ...formerOwners,
    ])) {
      // the rule namespace-confinement reports a remaining Kustomization that acted for the tenant
      const isActing = ({ key }: FleetNode) => before.node(key)?.tenant === tenant
      if (formerOwners.has(namespace) && index.nodesIn(cluster.name, namespace).some(isActing)) continue
      const left = remaining(cluster, namespace, tenant, index)
      if (left) yield left
      else gone.set(tenant, [...(gone.get(tenant) ?? []), namespace])
    }
    for (const [tenant, namespaces] of gone) yield offboarded(root, tenant, namespaces.sort())
  },
  *checkRemoved(node, { index, before }) {
    const cluster = before?.cluster(node.cluster)
    if (node.parent !== undefined || !cluster || index.cluster(node.cluster)) return
    yield removedCluster(node, cluster, index)
  },
}

function remaining({ name }: Cluster, namespace: string, tenant: string, index: FleetIndex): Violation | undefined {
  const left = index.remainsIn(name, namespace)
  if (!left) return undefined
  const subject = new Subject(left)
  const { id } = subject
  const isNamespace = id.kind === 'Namespace' && id.namespace === ''
  const what = isNamespace ? 'the Namespace' : subject.who
  return subject.violation(isNamespace ? TENANT_LABEL : ['metadata', 'namespace'], `${tenant} ${namespace}`, {
    message: message`${objectPart('Namespace', '', namespace)} no longer belongs to tenant ${quoted('tenant', tenant)}, but ${what} is still rendered. It becomes the platform's, and tenancy rules no longer apply to it. Allowed: removing a tenant together with everything in its namespaces. Flux and the API server accept it.`,
    fix: message`Restore what gives the namespace to ${quoted('tenant', tenant)} (the label toolkit.fluxcd.io/tenant, its Capsule Tenant, or its entry in .github/bailiwick.yaml), or remove everything in the namespace with it.`,
  })
}

function offboarded(root: FleetNode, tenant: string, namespaces: readonly string[]): Violation {
  const list = listed(namespaces.map(name => quoted('object', name)))
  return Subject.ofNode(root).violation(['metadata', 'name'], `${tenant} ${namespaces.join(' ')}`, {
    level: 'warning',
    severity: 'high',
    message: message`Tenant ${quoted('tenant', tenant)} loses ${namespaces.length === 1 ? 'the namespace' : 'the namespaces'} ${list} on this cluster, and nothing is rendered into ${namespaces.length === 1 ? 'it' : 'them'} anymore.`,
    fix: message`To keep the tenant, restore ${list}. To remove it, merge this change.`,
  })
}

/** A cluster without its directory keeps its objects, and they are no longer evaluated. */
function removedCluster(root: FleetNode, { path, how }: Cluster, index: FleetIndex): Violation {
  const name = quoted('object', root.cluster)
  const found = (wording: Wording) =>
    Subject.ofNode(root).violation(['spec', 'path'], `cluster ${root.cluster}`, wording)
  const { source } = root
  const heir = how === 'layout' ? (heirOf(root, path, index) ?? index.applierOf(source, path)) : undefined
  if (heir !== undefined) {
    return found({
      level: 'warning',
      severity: 'medium',
      message: message`Cluster ${name} was derived only from its directory ${quoted('path', path)}. Its content is now evaluated as part of cluster ${quoted('object', heir)}.`,
      fix: message`Confirm that no other Flux follows the directory.`,
    })
  }
  const isLeft = index.entriesAt(source.url, refKey(source.ref), path).length > 0
  return found({
    ...(isLeft ? {} : { level: 'warning', severity: 'high' }),
    message: isLeft
      ? message`This change hides cluster ${name}, but its directory ${quoted('path', path)} still contains files. Flux may still apply them, and Bailiwick would evaluate none of them. Allowed: removing a cluster together with its directory.`
      : message`Cluster ${name} is removed from the fleet. A Flux that still follows ${quoted('path', path)} keeps its objects, and none of the cluster is evaluated anymore.`,
    fix: isLeft
      ? message`Restore the object or setting that makes ${quoted('path', path)} the root of the cluster, or remove the directory.`
      : message`Confirm that the cluster is to be removed, and uninstall its Flux.`,
  })
}

/** The only cluster that starts below a folder and applies all of it: of several, none would have all tenants. */
function heirOf({ source }: FleetNode, path: string, index: FleetIndex): string | undefined {
  const ref = refKey(source.ref)
  return index.clusters().find(name => {
    const root = index.rootOf(name)
    const start = root && artifactPath(root.path)
    if (!root || !start || start === path || !isWithin(start, path)) return false
    if (root.source.opaque !== undefined || root.source.url !== source.url || refKey(root.source.ref) !== ref)
      return false
    return isAllWithin(path, start, folder => index.entriesAt(source.url, ref, folder))
  })
}

/** Whether a folder has manifests only in one folder further down. */
function isAllWithin(folder: string, start: string, list: (folder: string) => readonly TreeEntry[]): boolean {
  if (folder === start) return true
  return list(folder).every(({ type, path, name }) =>
    type === 'directory' ? isWithin(start, path) && isAllWithin(path, start, list) : !isManifest(name),
  )
}

/**
 * Tenants by namespaces of a cluster that belong to the platform once a change of the fleet's file is merged: an entry
 * is removed, no longer names the namespace or cluster, or is declared as platform. What a label or Capsule Tenant
 * gives stays, unless the file declares that tenant as platform; what the file gives to another tenant belongs to that
 * one.
 */
function undeclaredOwners(
  cluster: string,
  config: FleetConfig,
  index: FleetIndex,
  before: FleetIndex,
): ReadonlyMap<string, string> {
  const proposed = index.proposed()
  const lost = new Map<string, string>()
  // an unreadable file is already an error
  if (proposed.error) return lost
  const [was, is] = [declaredIn(config, cluster), declaredIn(proposed, cluster)]
  const lose = (namespace: string, isOver: boolean) => {
    const tenant = index.ownerOf(cluster, namespace) ?? before.ownerOf(cluster, namespace)
    if (tenant === undefined || is.owners.has(namespace)) return
    if (isOver || index.givenTo(cluster, namespace) === undefined) lost.set(namespace, tenant)
  }
  for (const namespace of was.owners.keys()) lose(namespace, false)
  for (const namespace of is.platformNamespaces) if (!was.platformNamespaces.has(namespace)) lose(namespace, false)
  for (const tenant of is.platformTenants) {
    if (was.platformTenants.has(tenant)) continue
    const all = [index, before].flatMap(one => one.namespacesOf(cluster, tenant))
    for (const namespace of all) lose(namespace, true)
  }
  return lost
}
