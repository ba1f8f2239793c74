import type { EvaluatedRepository } from '../../../facts/evaluated-repository.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import type { Violation } from '../../model/rule.ts'

/** What is found about a file of a repository, for the node that would render it. Without a line it is about the file itself: its name, its kind. */
export function violationIn(
  repository: EvaluatedRepository,
  node: FleetNode,
  file: string,
  found: Pick<Violation, 'message' | 'fix' | 'value'> & { readonly line?: number },
): Violation {
  const { line = 0, ...rest } = found
  const origin = { repository: repository.url, file, line, column: Math.min(line, 1) }
  return { node, object: node.kustomization, path: ['spec', 'path'], origin, ...rest }
}
