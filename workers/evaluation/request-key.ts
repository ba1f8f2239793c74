import { hash } from 'node:crypto'
import type { CombinationSnapshot, EvaluationRequest } from './protocol.ts'

/** Hash of everything that an answer depends on: trees count by their content's hash. Equal keys, equal answers. */
export function requestKey(request: EvaluationRequest): string {
  const parts =
    request.type === 'survey'
      ? [request.type, combination(request.head), request.today]
      : request.type === 'judge'
        ? [
            request.type,
            combination(request.head),
            request.base ? combination(request.base) : null,
            request.changed ?? null,
            request.today,
          ]
        : [request.type, request.request, request.tree.id, request.url, request.branch]
  return hash('sha256', JSON.stringify(parts))
}

function combination({ fleet, sources, opaque, disabledRules }: CombinationSnapshot): unknown {
  const contents = sources.map(({ url, ref, commit, tree }) => [url, ref, commit, tree.id])
  return [fleet.url, fleet.branch, fleet.commit, fleet.tree.id, contents, opaque, disabledRules]
}
