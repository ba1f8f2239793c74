import { hash } from 'node:crypto'
import { revisionKey } from '../../src/fleet/model/revision-of.ts'
import type { EvaluationRequest, RevisionSetSnapshot } from './protocol.ts'

/**
 * Hashes everything that a result depends on; trees count by the hash of their content. Equal keys give equal results.
 */
export function requestKey(request: EvaluationRequest): string {
  return hash('sha256', JSON.stringify([request.type, ...partsOf(request)]))
}

function partsOf(request: EvaluationRequest): unknown[] {
  switch (request.type) {
    case 'judge': {
      const { head, base, changed = null, today, earlier, values } = request
      const before = earlier ? [earlier.states.map(({ commit, tree }) => [commit, tree.id]), earlier.isAll] : null
      return [revisionSetKey(head), base ? revisionSetKey(base) : null, changed, today, before, values?.digest ?? null]
    }
    case 'survey':
      return [revisionSetKey(request.head), request.today]
    case 'overview':
      return [revisionSetKey(request.head), request.from]
    case 'credentials':
      return [request.tree.id, request.url, request.branch]
    case 'change':
      return [request.ask, request.tree.id, request.url, request.branch]
    case 'plan':
    case 'offboard':
      return [request.request, request.tree.id, request.url, request.branch]
  }
}

function revisionSetKey({ fleet, sources, opaque, facts, disabledRules, registries }: RevisionSetSnapshot): unknown {
  const contents = sources.map(source => [source.url, source.ref, revisionKey(source), source.tree.id])
  return [fleet.url, fleet.branch, fleet.commit, fleet.tree.id, contents, opaque, facts, disabledRules, registries]
}
