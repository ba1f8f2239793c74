import { countFindings } from '../evaluate/verdict/group-findings.ts'
import { scopeVerdict } from '../evaluate/verdict/scope-verdict.ts'
import type { Elsewhere } from '../report/formats/elsewhere.ts'
import type { Evaluation, Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'

/** A verdict as it is printed for one repository, and what of it is counted only. */
export interface OwnPart {
  readonly verdict: Verdict
  readonly elsewhere: Elsewhere
}

/**
 * What a tenant's run prints of a verdict: the findings that concern the repositories at `urls`, as the App chooses them. The
 * result stays that of the whole. `keepNew`: what is new is because of the change that is evaluated, so it concerns them.
 */
export function ownPart(
  verdict: Verdict,
  evaluation: Evaluation,
  urls: Iterable<string>,
  options: { readonly keepNew: boolean },
): OwnPart {
  const own = new Set<Finding | NodeFailure>()
  for (const url of urls) {
    const { violations, warnings, errors, notEvaluated } = scopeVerdict(evaluation, url, options)
    for (const one of [...violations, ...warnings, ...errors, ...notEvaluated]) own.add(one)
  }
  const [violations, otherViolations] = split(verdict.violations, own)
  const [warnings, otherWarnings] = split(verdict.warnings, own)
  const [errors, otherErrors] = split(verdict.errors, own)
  const [notEvaluated] = split(verdict.notEvaluated, own)
  const others = [...otherViolations, ...otherWarnings, ...otherErrors]
  const [freshViolations, freshErrors] = [otherViolations.filter(isNew), otherErrors.filter(isNew)]
  return {
    verdict: { ...verdict, violations, warnings, errors, notEvaluated },
    elsewhere: {
      violations: countFindings(freshViolations),
      errors: freshErrors.length,
      others: others.length - freshViolations.length - freshErrors.length,
    },
  }
}

/** Those that are its own or of no node, and the rest. */
function split<T extends Finding | NodeFailure>(
  list: readonly T[],
  own: ReadonlySet<Finding | NodeFailure>,
): [T[], T[]] {
  const isOwn = (one: T) => own.has(one) || one.node === ''
  return [list.filter(isOwn), list.filter(one => !isOwn(one))]
}

const isNew = ({ state }: { readonly state: string }) => state === 'new'
