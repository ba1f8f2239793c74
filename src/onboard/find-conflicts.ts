import type { BailiwickError } from '../errors.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { TENANT_LABEL_KEY } from '../flux/kinds.ts'
import { stringAt } from '../kube/node.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import { normaliseUrl } from '../kube/url.ts'
import { inputError, quote } from './checked-names.ts'
import type { OnboardRequest } from './request.ts'

/**
 * Refuses (`onboard-input`) a tenant, namespace or source that the fleet has already. Objects that are written in one of
 * `ownFiles` (those of an earlier, equal onboarding) are the tenant's own.
 */
export function findConflicts(
  fleet: Fleet,
  request: OnboardRequest,
  home: { readonly url: string; readonly branch: string },
  ownFiles: ReadonlySet<string>,
): void {
  const { tenant, namespaces, url, branch } = request
  if (normaliseUrl(url) === normaliseUrl(home.url) && branch === home.branch) {
    throw inputError(`--repo ${quote(url)} is the fleet itself`, 'Name the repository of the tenant.')
  }
  const taken = fleet.tenants.find(other => other.name === tenant)
  if (taken && ownFiles.size === 0) {
    throw inputError(`tenant ${quote(tenant)} already exists`, 'Choose another name, or edit its files by hand.')
  }
  for (const other of fleet.tenants) {
    const shared = other.name === tenant ? undefined : namespaces.find(name => other.namespaces.includes(name))
    if (shared) throw occupied(shared, `it belongs to tenant ${other.name}`)
  }
  for (const node of fleet.nodes) {
    for (const object of node.objects) {
      if (ownFiles.has(object.root.origin.file)) continue
      checkObject(object, node.cluster, request, home.url)
    }
  }
}

function checkObject(object: KubeObject, cluster: string, request: OnboardRequest, fleetUrl: string): void {
  const { tenant, namespaces, url, branch } = request
  const id = idOf(object)
  const namespace = id.kind === 'Namespace' && id.apiVersion === 'v1' ? id.name : id.namespace
  if (namespaces.includes(namespace)) {
    const { file, line } = object.root.origin
    throw occupied(namespace, `${display(id)} on ${cluster} is in use there (${file}:${line})`)
  }
  if (stringAt(object.root, ['metadata', 'labels', TENANT_LABEL_KEY]) === tenant) {
    throw inputError(`tenant ${quote(tenant)} already exists: ${display(id)} on ${cluster}`, 'Choose another name.')
  }
  if (id.kind !== 'GitRepository' && id.kind !== 'OCIRepository') return
  const other = stringAt(object.root, ['spec', 'url'])
  if (other === undefined || normaliseUrl(other) !== normaliseUrl(url)) return
  // branches of the fleet's own address may belong to different tenants
  const home = normaliseUrl(other) === normaliseUrl(fleetUrl)
  if (home && stringAt(object.root, ['spec', 'ref', 'branch']) !== branch) return
  throw inputError(
    `--repo ${quote(url)} is already the source of ${display(id)} on ${cluster}`,
    'A repository belongs to one tenant. Name another repository, or add a Kustomization to that tenant.',
  )
}

function occupied(namespace: string, why: string): BailiwickError {
  return inputError(
    `namespace ${quote(namespace)} is taken: ${why}`,
    'Choose a namespace that the fleet does not have.',
  )
}
