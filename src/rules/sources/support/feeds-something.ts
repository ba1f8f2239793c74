import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Naming } from '../../../facts/naming.ts'
import type { Rendered } from '../../../facts/object-table.ts'
import { FLUX_KINDS, GIT_REPOSITORY, HELM_RELEASE } from '../../../flux/kinds.ts'
import { placesOf } from '../../../kube/capabilities/places-of.ts'
import { at, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../../../kube/object.ts'

/** The sources that an object takes something from, by kind of the object. */
const TAKERS: readonly (readonly [string, Naming])[] = FLUX_KINDS.flatMap(({ group, kind, references = [] }) => {
  const taking = references.filter(({ takes }) => takes)
  if (taking.length === 0) return []
  const of = ({ object }: Rendered) =>
    taking.flatMap(({ path }) => placesOf(object.root, path.join('.'))).flatMap(path => named(object, path))
  return [[`${group}/${kind}`, { id: 'takes from', of }]]
})
const INCLUDED: Naming = {
  id: 'includes',
  of: ({ object }) =>
    items(object, 'include').flatMap(path => stringAt(object.root, [...path, 'repository', 'name']) ?? []),
}

/** Whether an object of the source's namespace, or of one of the tenant's, deploys from it or takes it into another one. */
export function feedsSomething(index: FleetIndex, cluster: string, tenant: string, source: ObjectId): boolean {
  const text = textOf(source)
  if (index.found(cluster, GIT_REPOSITORY, source.namespace, INCLUDED, source.name).length > 0) return true
  return TAKERS.some(([kind, naming]) =>
    index.foundAnywhere(cluster, kind, naming, text).some(({ object }) => {
      const { namespace } = idOf(object)
      return namespace === source.namespace || index.owns(cluster, tenant, namespace)
    }),
  )
}

/** Whether a source holds a chart and nothing else: releases take it, and nothing that deploys its content as it is. */
export function feedsReleasesOnly(index: FleetIndex, cluster: string, source: ObjectId): boolean {
  const taking = TAKERS.filter(
    ([kind, naming]) => index.foundAnywhere(cluster, kind, naming, textOf(source)).length > 0,
  )
  return taking.length > 0 && taking.every(([kind]) => kind === HELM_RELEASE)
}

const textOf = ({ kind, namespace, name }: Pick<ObjectId, 'kind' | 'namespace' | 'name'>) =>
  `${kind} ${namespace}/${name}`

function named(object: KubeObject, path: readonly (string | number)[]): string[] {
  const reference = at(object.root, path)
  const [kind, name] = [stringAt(reference, ['kind']), stringAt(reference, ['name'])]
  if (kind === undefined || name === undefined) return []
  return [textOf({ kind, namespace: stringAt(reference, ['namespace']) || idOf(object).namespace, name })]
}

function items(object: KubeObject, field: string): (string | number)[][] {
  const list = at(object.root, ['spec', field])
  return list?.type === 'list' ? [...list.items.keys()].map(index => ['spec', field, index]) : []
}
