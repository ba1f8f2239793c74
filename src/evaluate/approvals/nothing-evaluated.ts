import type { Fleet } from '../../fleet/model/fleet.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { startFile } from './start-file.ts'

export const UNEVALUATED = 'nothing-evaluated'

/** Whether anything of a fleet was built. */
export const isEvaluated = ({ nodes }: Fleet): boolean =>
  nodes.some(({ digest, objects }) => digest !== '' || objects.length > 0)

/** Where nothing can be evaluated, before the change and after it, someone who knows the cluster decides. */
export function nothingEvaluated(head: Fleet): RequiredApproval[] {
  const [cluster] = head.clusters
  if (!cluster || isEvaluated(head)) return []
  const message = 'no Kustomization of the fleet can be rendered, so nothing of this change is evaluated'
  return [{ rule: UNEVALUATED, path: startFile(cluster, head), message }]
}
