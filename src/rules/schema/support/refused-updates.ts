import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { objectPart } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { at } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { message } from '../../../message/message.ts'
import { immutableChanges } from '../../../schema/immutable-changes.ts'
import { hasImmutableFields } from '../../../schema/immutable-fields.ts'
import type { Breach } from '../../model/rule.ts'
import { fluxMarks } from '../../ownership/support/flux-mark.ts'
import { problemText } from './problem-text.ts'

/** What the change does to fields that the API server lets nobody change. `isDeclared`: the fleet says which version it is. */
export function* refusedUpdates(
  { object, id, kind, node }: Subject,
  before: FleetIndex,
  isDeclared: boolean,
): Iterable<Breach> {
  if (!hasImmutableFields(kind) || isForced(node) || isApart(object)) return
  const versions = before.versionsOf(node.cluster, kind, id.namespace, id.name)
  const was = versions.find(one => one.node.key === node.key) ?? (versions.length === 1 ? versions[0] : undefined)
  if (was === undefined || was.object === object || isApart(was.object)) return
  const who = objectPart(id.kind, id.namespace, id.name)
  for (const problem of immutableChanges(kind, was.object.root, object.root)) {
    yield {
      node,
      object,
      level: isDeclared ? 'violation' : 'warning',
      path: problem.path,
      value: `${problem.kind} ${problem.path.join('.')}`,
      ...problemText(problem, who, message`the API server`),
    }
  }
}

/** Flux deletes what it cannot change, and makes it anew. */
function isForced({ kustomization }: FleetNode): boolean {
  const force = at(kustomization.root, ['spec', 'force'])
  return force !== undefined && !(force.type === 'scalar' && (force.value === false || force.value === null))
}

/** Flux deletes it and makes it anew, or leaves alone what stands. */
const APART: ReadonlyMap<string, readonly string[]> = new Map([
  ['kustomize.toolkit.fluxcd.io/force', ['enabled']],
  ['kustomize.toolkit.fluxcd.io/ssa', ['ignore', 'ifnotpresent']],
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
])
const isApart = (object: KubeObject): boolean => fluxMarks(object, APART).length > 0
