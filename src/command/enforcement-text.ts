import type { Enforcement } from '../fleet/model/fleet-config.ts'
import { code } from '../message/markdown.ts'

const BODIES: Readonly<Record<Enforcement, readonly string[]>> = {
  report: [
    'Once this is merged, violations of the whole fleet are reported as warnings without blocking: for the first weeks, while people learn the rules. Evaluation errors still block.',
    'The comment `/bailiwick enforcement block` reverts it. For a single tenant, use `tenants[].enforcement` in the same file.',
  ],
  block: [
    'Once this is merged, new violations block again. Existing violations do not: pull requests are compared with their base, branches with the baseline.',
    'The comment `/bailiwick enforcement report` reverts it.',
  ],
}

/** Title and body of the pull request that switches between reporting and blocking violations. */
export function enforcementText(wanted: Enforcement, by: string, issue: number): { title: string; body: string } {
  const title = wanted === 'report' ? 'Report violations without blocking' : 'Block new violations'
  return { title, body: [...BODIES[wanted], `Requested by ${code(by, 60)} in #${issue}.`].join('\n\n') }
}
