import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Subject } from '../../../facts/subject.ts'
import { canonical } from '../../../kube/node.ts'

/** Whether the fleet before the change renders the same object. */
export function isUnchanged({ object, id, kind, node }: Subject, before: FleetIndex | undefined): boolean {
  const versions = before?.versionsOf(node.cluster, kind, id.namespace, id.name) ?? []
  return versions.some(
    version => version.object.root === object.root || canonical(version.object.root) === canonical(object.root),
  )
}
