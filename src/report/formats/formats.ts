import { visible } from '../../message/visible.ts'
import type { Verdict } from '../../rules/model/finding.ts'
import { changesLines } from '../changes/changes-lines.ts'
import { fitLines } from '../text/fit-lines.ts'
import type { EvaluatedAs, FormatContext } from './format-context.ts'
import { githubText } from './github.ts'
import { verdictJson } from './json.ts'
import { sarifText } from './sarif.ts'
import { terminalText } from './terminal.ts'

/** Every way to print a verdict, by the name that `-o` takes. */
export const formats: ReadonlyMap<string, (verdict: Verdict, context: FormatContext) => string> = new Map([
  [
    'text',
    (verdict, { here, evaluatedAs, elsewhere, changes, verbose, color, ...look }) =>
      terminalText(verdict, here, elsewhere, changes && changesLines(changes, verbose), color, look) +
      (evaluatedAs && !look.quiet
        ? `${fitLines([asLine(evaluatedAs)], look.columns ?? Number.POSITIVE_INFINITY).join('\n')}\n`
        : ''),
  ],
  [
    'json',
    (verdict, { evaluatedAs, changes }) =>
      `${JSON.stringify({ ...verdictJson(verdict), changes, evaluatedAs }, null, 2)}\n`,
  ],
  ['sarif', sarifText],
  ['github', githubText],
])

function asLine({ repository, branch, because, versions }: EvaluatedAs): string {
  const more = versions.length > 0 ? ` and as the next ${versions.join(', ')}` : ''
  return visible(`evaluated as branch ${branch} of ${repository || 'this folder'} (${because})${more}`, 500)
}
