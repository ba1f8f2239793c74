import { mayLeadTo } from '../../fleet/model/named-repositories.ts'
import type { EvaluatedNode, Evaluation, Verdict } from '../../rules/model/finding.ts'
import { evaluatedIn } from './evaluated.ts'
import { readsFrom } from './reads-from.ts'
import { resultOf } from './result-of.ts'
import { withSummary } from './summary.ts'

/**
 * The part of a verdict that concerns one repository: what stands in the nodes that read it or may lead there unseen, and in
 * those that they lead to, and whatever else is new there because of a change of it in a pull request. The others' own faults do not turn it red.
 */
export function scopeVerdict(evaluation: Evaluation, url: string, options: { readonly keepNew: boolean }): Verdict {
  const { verdict } = evaluation
  const own = nodesOf(evaluation.nodes, url)
  const concerns = (item: { node: string; state: string }) =>
    own.has(item.node) || item.node === '' || (options.keepNew && item.state === 'new')
  const violations = verdict.violations.filter(concerns)
  const errors = verdict.errors.filter(concerns)
  return withSummary({
    ...verdict,
    result: resultOf(violations, errors),
    violations,
    warnings: verdict.warnings.filter(concerns),
    notEvaluated: verdict.notEvaluated.filter(concerns),
    errors,
    ...belowErrors(evaluation, own),
    evaluated: evaluatedIn(
      evaluation.nodes.filter(({ key }) => own.has(key)),
      errors,
    ),
  })
}

/** How many of these nodes hang below one of which Flux applies nothing: the error is not theirs, what follows of it is. */
function belowErrors({ nodes, verdict }: Evaluation, own: ReadonlySet<string>): { belowErrors?: number } {
  const failing = new Set(verdict.errors.filter(({ blocksApply }) => blocksApply).map(({ node }) => node))
  const below = new Set<string>()
  for (const { key, parent } of nodes) {
    if (parent !== null && (failing.has(parent) || below.has(parent))) below.add(key)
  }
  const count = [...own].filter(key => below.has(key)).length
  return count === 0 ? {} : { belowErrors: count }
}

function nodesOf(nodes: readonly EvaluatedNode[], url: string): ReadonlySet<string> {
  const own = new Set<string>()
  // parents come first, so one pass reaches every descendant
  for (const node of nodes) {
    if (mayLeadTo(node.hides, url) || readsFrom(node, url) || (node.parent !== null && own.has(node.parent)))
      own.add(node.key)
  }
  return own
}
