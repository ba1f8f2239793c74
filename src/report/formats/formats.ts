import type { Verdict } from '../../rules/finding.ts'
import { verdictJson } from '../json.ts'
import { terminalText } from '../terminal.ts'
import type { FormatContext } from './format-context.ts'
import { githubText } from './github.ts'
import { junitText } from './junit.ts'
import { sarifText } from './sarif.ts'

/** Every way to print a verdict, by the name that `-o` takes. */
export const formats: ReadonlyMap<string, (verdict: Verdict, context: FormatContext) => string> = new Map([
  ['text', (verdict, { here }) => terminalText(verdict, here)],
  ['json', verdict => `${JSON.stringify(verdictJson(verdict), null, 2)}\n`],
  ['sarif', sarifText],
  ['junit', junitText],
  ['github', githubText],
])
