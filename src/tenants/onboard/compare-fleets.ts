import { parseAllDocuments } from 'yaml'
import type { BailiwickError } from '../../base/errors.ts'
import { type Fleet, type FleetNode, nodesByKey } from '../../fleet/model/fleet.ts'
import { TENANT_LABEL_KEY } from '../../kube/flux-kinds.ts'
import { at, canonical, type Json, type Node, stringAt, toJson } from '../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { stableText } from './edit-kustomization.ts'
import { inputError, type OnboardRequest, quote } from './request.ts'

/** What the new tenant must be on each of its clusters. */
export interface Expected {
  /** By key of the node that renders its objects: their manifests, and the path that its Kustomization has there. */
  readonly nodes: ReadonlyMap<string, { readonly manifests: string; readonly path: string }>
  /** A text that lists of objects of one kind get; nothing else of them changes. */
  readonly listed?: { readonly group: string; readonly kind: string; readonly value: string }
}

/** Fields of a tenant's objects that make it what it is; a fleet's own patches may set the others. */
const IDENTITY = [
  ['subjects'],
  ['roleRef'],
  ['spec', 'url'],
  ['spec', 'ref'],
  ['spec', 'serviceAccountName'],
  ['spec', 'sourceRef'],
  ['spec', 'targetNamespace'],
  ['spec', 'kubeConfig'],
  ['spec', 'path'],
] as const

/**
 * What is wrong with `after` as the onboarding of a tenant into `before`; undefined when everything that was there renders
 * as before, and the new tenant is what its manifests say, on its clusters and nowhere else.
 */
export function compareFleets(before: Fleet, after: Fleet, expected: Expected): string | undefined {
  const old = nodesByKey(before.nodes)
  for (const node of before.nodes) {
    if (!after.nodes.some(other => other.key === node.key)) return `${node.key} would be gone`
  }
  for (const node of after.nodes) {
    const previous = old.get(node.key)
    if (!previous) {
      if (!expected.nodes.has(node.parent ?? '')) return `${node.key} would be new`
      continue
    }
    if (node.error?.message !== previous.error?.message) return `${node.key} would fail: ${node.error?.message}`
    const problem = compareNode(previous, node, expected)
    if (problem) return problem
  }
  return undefined
}

function compareNode(before: FleetNode, after: FleetNode, expected: Expected): string | undefined {
  const here = expected.nodes.get(after.key)
  const wanted = here === undefined ? [] : expectedObjects(here.manifests, here.path)
  const old = new Map(before.objects.map(object => [keyOf(idOf(object)), object]))
  const now = new Map(after.objects.map(object => [keyOf(idOf(object)), object]))
  for (const [key, object] of old) {
    const other = now.get(key)
    if (!other) return `${display(idOf(object))} on ${after.cluster} would be gone`
    if (canonical(other.root) !== canonical(object.root) && !isListed(object, other, expected))
      return `${display(idOf(object))} on ${after.cluster} would change`
  }
  for (const one of wanted) {
    const object = now.get(one.key)
    if (!object) return `${one.name} on ${after.cluster} would not be there`
    const field = IDENTITY.find(steps => textOf(at(object.root, steps)) !== textAt(one.data, steps))
    if (field) return `${one.name} on ${after.cluster} would have another ${field.join('.')}`
  }
  const known = new Set(wanted.map(one => one.key))
  const stray = after.objects.find(object => !old.has(keyOf(idOf(object))) && !known.has(keyOf(idOf(object))))
  return stray && `${display(idOf(stray))} on ${after.cluster} would be new`
}

/** Whether the lists of an object have one text more, and everything else of it is as it was. */
function isListed(before: KubeObject, after: KubeObject, { listed }: Expected): boolean {
  const { apiVersion, kind } = idOf(before)
  if (!listed || groupOf(apiVersion) !== listed.group || kind !== listed.kind) return false
  const without = (value: Json): Json => {
    if (Array.isArray(value)) return value.filter(one => one !== listed.value).map(without)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, without(one)]))
  }
  return stableText(without(toJson(after.root))) === stableText(without(toJson(before.root)))
}

function expectedObjects(manifests: string, path: string) {
  return parseAllDocuments(manifests).map(document => {
    const data = document.toJS() as Record<string, Record<string, unknown>>
    if (String(data.kind) === 'Kustomization') data.spec = { ...data.spec, path }
    const metadata = data.metadata as { name: string; namespace?: string }
    const id: ObjectId = {
      apiVersion: String(data.apiVersion),
      kind: String(data.kind),
      namespace: metadata.namespace ?? '',
      name: metadata.name,
    }
    return { key: keyOf(id), name: display(id), data }
  })
}

const keyOf = ({ apiVersion, kind, namespace, name }: ObjectId) => `${apiVersion} ${kind} ${namespace} ${name}`
const textOf = (node: Node | undefined) => (node ? stableText(toJson(node)) : '')

function textAt(data: unknown, steps: readonly string[]): string {
  const found = steps.reduce<unknown>((here, step) => (here as Record<string, unknown> | undefined)?.[step], data)
  return found === undefined ? '' : stableText(found)
}

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
