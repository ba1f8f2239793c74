import { at, stringAt } from '../../kube/node.ts'
import type { KubeObject, ObjectId } from '../../kube/object.ts'
import type { FleetIndex } from '../index/fleet-index.ts'

/** Kinds that take what is deployed from a source, and where they name it. */
const CONSUMERS: readonly (readonly [string, readonly (readonly string[])[]])[] = [
  ['kustomize.toolkit.fluxcd.io/Kustomization', [['spec', 'sourceRef']]],
  [
    'helm.toolkit.fluxcd.io/HelmRelease',
    [
      ['spec', 'chart', 'spec', 'sourceRef'],
      ['spec', 'chartRef'],
    ],
  ],
  ['source.toolkit.fluxcd.io/HelmChart', [['spec', 'sourceRef']]],
  ['infra.contrib.fluxcd.io/Terraform', [['spec', 'sourceRef']]],
]
const GENERATOR = 'source.extensions.fluxcd.io/ArtifactGenerator'
const GIT_REPOSITORY = 'source.toolkit.fluxcd.io/GitRepository'

/** Whether an object of one of these namespaces deploys from a source, or takes it into another one. */
export function feedsSomething(
  index: FleetIndex,
  cluster: string,
  source: ObjectId,
  namespaces: Iterable<string>,
): boolean {
  for (const namespace of new Set([source.namespace, ...namespaces])) {
    const isNamed = (object: KubeObject, path: readonly (string | number)[]) => names(object, path, source, namespace)
    for (const [kind, paths] of CONSUMERS) {
      const objects = index.rendered(cluster, kind, namespace)
      if (objects.some(({ object }) => paths.some(path => isNamed(object, path)))) return true
    }
    for (const { object } of index.rendered(cluster, GENERATOR, namespace)) {
      if (items(object, 'sources').some(at => isNamed(object, at))) return true
    }
    if (namespace !== source.namespace) continue
    for (const { object } of index.rendered(cluster, GIT_REPOSITORY, namespace)) {
      const included = items(object, 'include').map(path => stringAt(object.root, [...path, 'repository', 'name']))
      if (included.includes(source.name)) return true
    }
  }
  return false
}

function names(object: KubeObject, path: readonly (string | number)[], source: ObjectId, own: string): boolean {
  const reference = at(object.root, path)
  if (stringAt(reference, ['kind']) !== source.kind || stringAt(reference, ['name']) !== source.name) return false
  return (stringAt(reference, ['namespace']) || own) === source.namespace
}

function items(object: KubeObject, field: string): (string | number)[][] {
  const list = at(object.root, ['spec', field])
  return list?.type === 'list' ? [...list.items.keys()].map(index => ['spec', field, index]) : []
}
