import type { Fleet } from '../../fleet/model/fleet.ts'
import type { NodeFailure } from '../../rules/model/finding.ts'
import { failureOf } from './finding-of.ts'

/** What makes a cluster, for those in whose repository none was found. */
const LOOKED_FOR =
  'Looked for: a source and the Kustomization that follows it (flux-system/gotk-sync.yaml), a FluxInstance or values of its chart, and folders clusters/<name>'

/** Nothing evaluated is not a pass: a repository without clusters is no fleet, and one of which nothing is built shows nothing. */
export function nothingEvaluated({ clusters, nodes }: Fleet): NodeFailure[] {
  const where = { key: '', cluster: '' }
  const at = (file: string) => ({ repository: '', file, line: 1, column: 1 })
  if (clusters.length === 0) {
    const message = `no cluster was found in this repository, so there is nothing to evaluate. ${LOOKED_FOR}`
    const fix =
      'Name the folder that each cluster starts from under clusters in .github/bailiwick.yaml (name, path), or with --cluster-root NAME=PATH.'
    return [failureOf(where, { code: 'path-not-found', message, fix }, at('clusters'))]
  }
  if (nodes.some(({ digest, objects }) => digest !== '' || objects.length > 0)) return []
  const message = 'none of the Kustomizations of the fleet could be built, so nothing was evaluated'
  const fix = 'Correct the errors of the clusters, or give the sources that they follow.'
  return [failureOf(where, { code: 'nothing-evaluated', message, fix }, at(''))]
}
