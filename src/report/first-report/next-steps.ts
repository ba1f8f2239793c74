import { count } from '../text/headline.ts'
import type { FirstReportFacts } from './facts.ts'

/** Lists the next steps as checkboxes that reflect the survey. */
export function nextSteps({ survey, gates, baseline, hasForm }: FirstReportFacts): string {
  const unreal = gates.filter(({ gate }) => gate?.state !== 'real').length
  const steps = [
    step(
      survey.notSeen.length === 0,
      'Every source that the fleet follows is visible.',
      `Install the App on the repositories that are not visible (below, *Sources*), or accept that only the accounts that apply them are evaluated (${count(survey.notSeen.length, 'source')}).`,
    ),
    baselineStep({ survey, baseline }),
    step(
      unreal === 0,
      'The check is required from this App on every branch that clusters follow.',
      `Make the check required on ${count(unreal, 'branch').replace('branchs', 'branches')} (see below). A repository admin can let the App do it with the comment \`/bailiwick gate\`.`,
    ),
    survey.enforcement === 'report'
      ? '- [ ] Violations are reported without blocking (`enforcement: report`). To block new violations, comment `/bailiwick enforcement block`.'
      : '- [ ] Optional, for the first weeks: report violations without blocking. Comment `/bailiwick enforcement report` and merge the pull request that it opens.',
    step(
      hasForm,
      'Teams can request a tenant with the issue form of this repository.',
      'Optional: let teams request a tenant with an issue form, `.github/ISSUE_TEMPLATE/tenant-request.yml`. An admin can onboard one with `/bailiwick onboard TENANT --repo URL --namespace NS --cluster C` at any time.',
    ),
  ]
  return [
    '### What to do next',
    '',
    ...steps,
    '',
    'This list updates automatically. Close this issue to stop the updates.',
  ].join('\n')
}

const step = (done: boolean, past: string, todo: string) => (done ? `- [x] ${past}` : `- [ ] ${todo}`)

function baselineStep({ survey, baseline }: Pick<FirstReportFacts, 'survey' | 'baseline'>): string {
  const violations = survey.legacy.reduce((sum, one) => sum + one.count, 0)
  const standing = [
    ...(violations > 0 || survey.errorCount === 0 ? [count(violations, 'violation')] : []),
    ...(survey.errorCount > 0 ? [count(survey.errorCount, 'evaluation error')] : []),
  ].join(', ')
  if (baseline.kind === 'offered') {
    return `- [ ] Approve and merge #${baseline.pull}: it lists what exists today (${standing}) in \`.github/bailiwick-baseline.yaml\`, so that the check on the branches passes and only new findings count.`
  }
  if (baseline.kind === 'not-needed') return '- [x] No baseline is needed: there are no existing violations.'
  if (baseline.kind === 'present') return '- [x] The baseline file lists the existing findings.'
  return `- [ ] Fix existing findings (${standing}), or record them with \`bailiwick baseline\`: until then the check on the branches fails.`
}
