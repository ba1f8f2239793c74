import type { FleetSurvey } from '../../audit/survey-fleet.ts'
import { code } from '../../message/markdown.ts'
import { count } from '../text/headline.ts'
import { table } from './shown-list.ts'

const MAX_RULES = 60

/** Title and body of the pull request that offers a baseline. */
export function baselineOfferText({ legacy, errorCount }: Pick<FleetSurvey, 'legacy' | 'errorCount'>): {
  readonly title: string
  readonly body: string
} {
  const violations = legacy.reduce((sum, one) => sum + one.count, 0)
  const rows = legacy.map(({ rule, count: number }) => [code(rule, 80), String(number)])
  const listed = [
    `This fleet holds ${count(violations, 'violation')} from before Bailiwick was installed. This file lists them, one entry for each object: they stay visible as *existing*, the check on the branches passes, and only new or worse findings count.`,
    table(['rule', 'violations'], rows, MAX_RULES),
  ]
  const accepted = `It accepts ${count(errorCount, 'evaluation error')}: each entry pins what its error keeps from being evaluated, so other bytes there are an error again. Bailiwick's worker applies nothing of such a Kustomization.`
  return {
    title: violations > 0 ? 'List existing violations' : 'List existing evaluation errors',
    body: [
      ...(violations > 0 ? listed : []),
      ...(errorCount > 0 ? [accepted] : []),
      'Without it pull requests are evaluated as well: each is compared with its base. The list shrinks with `bailiwick baseline`; let an admin own `.github/bailiwick-baseline.yaml` in CODEOWNERS, because growing it lets violations pass.',
      'Close this pull request to fix them first. Bailiwick does not open it again.',
    ].join('\n\n'),
  }
}
