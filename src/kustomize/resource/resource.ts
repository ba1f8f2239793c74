import { at, type MapNode, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, type KubeObject } from '../../kube/object.ts'
import type { Origin, Step } from '../../kube/origin.ts'
import { isClusterScoped } from './cluster-scoped.ts'

/** What kustomize identifies an object by. `namespace` is the one in effect: 'default' for none. */
export interface ResourceId {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** An object on its way through a build; the ids that it had before are what patches and references may still name. */
export interface Resource {
  root: MapNode
  readonly previous: ResourceId[]
  trail: readonly Step[]
  /** A generated object whose name gets a hash of its content. */
  needsHash: boolean
  readonly behavior?: 'create' | 'merge' | 'replace'
}

/** The namespace that kustomize gives to objects which cannot have one. */
export const NO_NAMESPACE = '_non_namespaceable_'

/** A fresh resource around a document. */
export function makeResource(root: MapNode, trail: readonly Step[] = []): Resource {
  return { root, previous: [], trail, needsHash: false }
}

/** Identity that an object has now. */
export function currentId(resource: Resource): ResourceId {
  const apiVersion = stringAt(resource.root, ['apiVersion']) ?? ''
  const kind = stringAt(resource.root, ['kind']) ?? ''
  return {
    group: groupOf(apiVersion),
    version: apiVersion.slice(apiVersion.indexOf('/') + 1),
    kind,
    namespace: effectiveNamespace(apiVersion, kind, stringAt(resource.root, ['metadata', 'namespace']) ?? ''),
    name: stringAt(resource.root, ['metadata', 'name']) ?? '',
  }
}

/** The namespace by which kustomize compares: empty counts as `default`. */
function effectiveNamespace(apiVersion: string, kind: string, namespace: string): string {
  if (isClusterScoped(apiVersion, kind)) return NO_NAMESPACE
  return namespace || 'default'
}

/** Ids an object had or has, oldest first. The group and version of past ids are those of today, as in kustomize. */
export function allIds(resource: Resource): ResourceId[] {
  const current = currentId(resource)
  const past = resource.previous.map(id => ({ ...id, group: current.group, version: current.version }))
  return [...past, current]
}

/** Identity that an object had first. */
export function originalId(resource: Resource): ResourceId {
  return allIds(resource)[0]!
}

/** Whether two ids agree in every part. */
export function sameId(a: ResourceId, b: ResourceId): boolean {
  return (
    a.namespace === b.namespace &&
    a.name === b.name &&
    a.kind === b.kind &&
    a.group === b.group &&
    a.version === b.version
  )
}

/** Where to point for a whole object: its kind. */
export function resourceOrigin(resource: Resource, path: Path = ['kind']): Origin {
  return at(resource.root, path)?.origin ?? resource.root.origin
}

/** `Kind name` with its namespace, for messages. */
export function describe(id: ResourceId): string {
  const where = id.namespace === NO_NAMESPACE ? '' : `${id.namespace}/`
  return `${id.kind} ${where}${id.name}`
}

/** The finished object. */
export function toKubeObject(resource: Resource): KubeObject {
  return { root: resource.root, trail: resource.trail }
}
