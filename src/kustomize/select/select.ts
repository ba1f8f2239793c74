import { writtenText } from '../../kube/edit-node.ts'
import { at } from '../../kube/node.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { Target } from '../model/entry.ts'
import { currentId, originalId, type Resource } from '../resource/resource.ts'
import { IdPattern, type TextTest } from './id-pattern.ts'
import { matchesSelector } from './match-selector.ts'

/** The resources that a patch target selects: names and namespaces as they are now or were at first. */
export function select(resources: readonly Resource[], target: Target, budget: BuildBudget): Resource[] {
  const pattern = new IdPattern(target, budget)
  return resources.filter(resource => selects(pattern, resource) && selectsNotes(target, resource))
}

function selects({ group, version, kind, name, namespace }: IdPattern, resource: Resource): boolean {
  const now = currentId(resource)
  if (kind && !kind(now.kind)) return false
  if (group && !group(now.group)) return false
  if (version && !version(now.version)) return false
  if (!name && !namespace) return true
  const first = originalId(resource)
  if (name && !matchesEither(name, first.name, now.name)) return false
  return !namespace || matchesEither(namespace, first.namespace, now.namespace)
}

const matchesEither = (test: TextTest, first: string, now: string): boolean =>
  test(first) || (now !== first && test(now))

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
