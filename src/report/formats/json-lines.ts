import { groupFindings } from '../../evaluate/verdict/group-findings.ts'
import { display } from '../../kube/object.ts'
import { visible } from '../../message/visible.ts'
import type { SourceLine } from '../../origin.ts'
import type { Verdict } from '../../rules/model/finding.ts'
import { fixText } from '../text/fix-text.ts'
import { groupFailures } from '../text/group-failures.ts'
import { headlineOf } from '../text/headline.ts'
import { elsewhereText, NOTHING_ELSEWHERE } from './elsewhere.ts'
import type { FormatContext } from './format-context.ts'

/**
 * The verdict as one JSON object per line, for editors: a `finding` for each cause, an `error` for what could not be evaluated,
 * a `required-approval`, a `note` for anything not visible or not evaluated, and a `result` as the last line. `file` is empty if the place is in another repository.
 */
export function jsonLinesText(verdict: Verdict, { here, elsewhere = NOTHING_ELSEWHERE }: FormatContext): string {
  const found = [...verdict.violations, ...verdict.warnings].filter(({ state }) => state !== 'fixed')
  const others = elsewhereText(elsewhere)
  const lines = [
    ...groupFailures(verdict.errors).map(({ failure, nodes }) => ({
      type: 'error',
      code: failure.code,
      state: failure.state,
      ...placeOfLine(failure.origin, here),
      message: visible(failure.message, 2000),
      fix: visible(failure.fix, 1000),
      nodes,
    })),
    ...groupFindings(found).map(group => ({
      type: 'finding',
      rule: group.finding.rule,
      level: group.finding.level,
      severity: group.finding.severity,
      state: group.finding.state,
      ...placeOfLine(group.finding.origin, here),
      message: visible(group.finding.message, 2000),
      fix: visible(fixText(group, here), 1000),
      objects: group.objects.map(({ object }) => display(object)),
      clusters: group.clusters,
      tenants: group.tenants,
    })),
    ...verdict.requiredApprovals.map(({ rule, path, message }) => {
      return { type: 'required-approval', rule, file: path, line: 1, column: 1, message: visible(message, 2000) }
    }),
    ...verdict.notSeen.map(({ source, url, reason }) => note(`${source} (${url}) is not visible: ${reason}`)),
    ...verdict.notReached.map(({ id, reason }) => note(`${id} is not reached: ${reason}`)),
    ...groupFindings(verdict.notEvaluated).map(({ finding }) => note(finding.message)),
    ...(others === undefined ? [] : [note(others)]),
    { type: 'result', result: verdict.result, message: headlineOf({ verdict, hidden: elsewhere }) },
  ]
  return `${lines.map(line => JSON.stringify(line)).join('\n')}\n`
}

const note = (text: string) => ({ type: 'note', message: visible(text, 2000) })

function placeOfLine({ repository, file, line, column }: SourceLine & { readonly column: number }, here: string) {
  const isHere = repository === here || repository === ''
  return { file: isHere ? file : '', line, column, repository }
}
