import type { Enforcement } from '../fleet/config/fleet-config.ts'
import { code } from '../report/markdown.ts'

const BODIES: Readonly<Record<Enforcement, readonly string[]>> = {
  report: [
    'Once this is merged, violations of the whole fleet are said as warnings and block nobody: for the first weeks, while people learn the rules. What nobody could decide stays an error.',
    'The comment `/bailiwick enforcement block` takes it back. A single tenant can be set by `tenants[].enforcement` in the same file.',
  ],
  block: [
    'Once this is merged, new violations block again. What stands today stands: pull requests are compared with their base, branches with the baseline.',
    'The comment `/bailiwick enforcement report` takes it back.',
  ],
}

/** Title and body of the pull request that switches between saying and blocking. */
export function enforcementText(wanted: Enforcement, by: string, issue: number): { title: string; body: string } {
  const title = wanted === 'report' ? 'Say violations and block nobody' : 'Block new violations'
  return { title, body: [...BODIES[wanted], `Asked for by ${code(by, 60)} in #${issue}.`].join('\n\n') }
}
