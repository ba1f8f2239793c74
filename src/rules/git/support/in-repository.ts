import type { EvaluatedRepository } from '../../../facts/evaluated-repository.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import type { Breach } from '../../model/rule.ts'

/** What is found about a file of a repository, for the node that would render it. Without a line it is about the file itself: its name, its kind. */
export function breachIn(
  repository: EvaluatedRepository,
  node: FleetNode,
  file: string,
  found: Pick<Breach, 'message' | 'fix' | 'value'> & { readonly line?: number },
): Breach {
  const { line = 0, ...said } = found
  const origin = { repository: repository.url, file, line, column: Math.min(line, 1) }
  return { node, object: node.kustomization, path: ['spec', 'path'], origin, ...said }
}
