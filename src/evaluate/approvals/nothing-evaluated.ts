import { followed } from '../../facts/evaluated-repositories.ts'
import type { Fleet, FleetRepository } from '../../fleet/model/fleet.ts'
import { changedPaths } from '../../fleet/rendering/changed-paths.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { Manifests } from '../changed/manifests.ts'
import { startFile } from './start-file.ts'

/** Whether anything of a fleet was built. */
export const isEvaluated = ({ nodes }: Fleet): boolean =>
  nodes.some(({ digest, objects }) => digest !== '' || objects.length > 0)

/** Where nothing can be evaluated, before the change and after it, someone who knows the cluster decides. */
export function nothingEvaluated(head: Fleet, base: Fleet): RequiredApproval[] {
  const [cluster] = head.clusters
  if (!cluster || isEvaluated(head) || !mayMatter(head, base)) return []
  const message = 'no Kustomization of the fleet can be rendered, so nothing of this change is evaluated'
  return [{ rule: 'nothing-evaluated', path: startFile(cluster, head), message }]
}

/** Whether a change that is visible has a file that a controller could read; one of what is not visible may. */
function mayMatter(head: Fleet, base: Fleet): boolean {
  const before = new Map(base.repositories.map(one => [followed(one), one.tree]))
  const changed = head.repositories.filter(one => before.get(followed(one))?.id !== one.tree.id)
  const isRead = (one: FleetRepository) => {
    const was = before.get(followed(one))
    const manifests = was && new Manifests([one.tree, was])
    return !manifests || [...changedPaths(was, one.tree)].some(path => manifests.mayBeRead(path))
  }
  return changed.length === 0 || changed.some(isRead)
}
