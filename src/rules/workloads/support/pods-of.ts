import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Subject } from '../../../facts/subject.ts'
import { POD_SPEC_PATHS } from '../../../kube/pod-spec-paths.ts'
import { isCustomKind } from './is-custom-kind.ts'
import { CONTAINER_LISTS, type Pod, podAt, podsWithin } from './pod-parts.ts'

/** The pods that an object describes, whatever its kind. */
export function podsOf(subject: Subject, index: FleetIndex): Iterable<Pod> {
  const path = POD_SPEC_PATHS.get(subject.kind)
  if (!path) return isCustomKind(subject, index, CONTAINER_LISTS) ? podsWithin(subject.object.root) : []
  const pod = podAt(subject.object.root, path)
  return pod ? [pod] : []
}
