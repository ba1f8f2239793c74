import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Subject } from '../../../facts/subject.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { at } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { fluxMarks } from '../../ownership/support/flux-mark.ts'

/** The object before the update; undefined where Flux creates the object or may recreate it. */
export function updatedFrom(
  { object, id, kind, node }: Pick<Subject, 'object' | 'id' | 'kind' | 'node'>,
  before: FleetIndex,
): KubeObject | undefined {
  if (isForced(node) || isApart(object)) return undefined
  const versions = before.versionsOf(node.cluster, kind, id.namespace, id.name)
  const was = versions.find(one => one.node.key === node.key) ?? (versions.length === 1 ? versions[0] : undefined)
  return was === undefined || isApart(was.object) ? undefined : was.object
}

/** With `spec.force`, Flux deletes and recreates an object that it cannot update. */
function isForced({ kustomization }: FleetNode): boolean {
  const force = at(kustomization.root, ['spec', 'force'])
  return force !== undefined && !(force.type === 'scalar' && (force.value === false || force.value === null))
}

/** Values of the annotations with which Flux recreates an object or does not update it. */
const APART: ReadonlyMap<string, readonly string[]> = new Map([
  ['kustomize.toolkit.fluxcd.io/force', ['enabled']],
  ['kustomize.toolkit.fluxcd.io/ssa', ['ignore', 'ifnotpresent']],
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
])
const isApart = (object: KubeObject): boolean => fluxMarks(object, APART).length > 0
