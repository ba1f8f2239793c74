import { writtenText } from '../../kube/edit-node.ts'
import { at } from '../../kube/node.ts'
import type { Entry, Target } from '../kustomization.ts'
import { currentId, originalId, type Resource } from '../resource/resource.ts'
import { matchesSelector } from './match-selector.ts'
import { checkPattern, matchesPattern } from './pattern.ts'

/** The resources that a patch target selects: names and namespaces as they are now or were at first. */
export function select(resources: readonly Resource[], target: Target): Resource[] {
  // kustomize compiles them all before it looks at the first object
  for (const part of PATTERNS) if (target[part]) checkPattern(target[part])
  return resources.filter(resource => selects(target, resource))
}

const PATTERNS = ['group', 'version', 'kind', 'name', 'namespace'] as const

function selects(target: Target, resource: Resource): boolean {
  const now = currentId(resource)
  const first = originalId(resource)
  const { group, version, kind, name, namespace } = target
  if (namespace && !matchesEither(namespace, first.namespace, now.namespace)) return false
  if (name && !matchesEither(name, first.name, now.name)) return false
  if (group && !matchesPattern(group, now.group)) return false
  if (version && !matchesPattern(version, now.version)) return false
  if (kind && !matchesPattern(kind, now.kind)) return false
  return selectsNotes(target, resource)
}

const matchesEither = (pattern: Entry, first: string, now: string): boolean =>
  matchesPattern(pattern, first) || (now !== first && matchesPattern(pattern, now))

/** Whether the labels and annotations of an object are those that a target asks for. */
export function selectsNotes({ labelSelector, annotationSelector }: Target, resource: Resource): boolean {
  if (labelSelector && !matchesSelector(labelSelector, textsOf(resource, 'labels'))) return false
  return !annotationSelector || matchesSelector(annotationSelector, textsOf(resource, 'annotations'))
}

function textsOf(resource: Resource, field: 'labels' | 'annotations'): Map<string, string> {
  const map = at(resource.root, ['metadata', field])
  if (map?.type !== 'map') return new Map()
  return new Map([...map.fields].map(([key, { value }]) => [key, writtenText(value)]))
}
