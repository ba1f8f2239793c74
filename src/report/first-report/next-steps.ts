import { count } from '../headline.ts'
import type { FirstReportFacts } from './facts.ts'

/** What is left to do, as a list whose boxes follow what was found. */
export function nextSteps({ survey, gates, baseline, hasForm }: FirstReportFacts): string {
  const unreal = gates.filter(({ gate }) => gate?.state !== 'real').length
  const steps = [
    step(
      survey.notSeen.length === 0,
      'Every source that the fleet follows is seen.',
      `Install the App on the repositories that are not seen (below, *Sources*), or accept that they are judged by account only (${count(survey.notSeen.length, 'source')}).`,
    ),
    baselineStep({ survey, baseline }),
    step(
      unreal === 0,
      'The check is required of this App on every branch that clusters follow.',
      `Make the check required on ${count(unreal, 'branch').replace('branchs', 'branches')} (see below). Who administers the repositories can let the App do it with the comment \`/bailiwick gate\`.`,
    ),
    survey.enforcement === 'report'
      ? '- [ ] Violations are only said and block nobody (`enforcement: report`). When nothing surprises any more: comment `/bailiwick enforcement block`.'
      : '- [ ] Optional, for the first weeks: say violations and block nobody. Comment `/bailiwick enforcement report`; merging the pull request that follows switches it on.',
    step(
      hasForm,
      'Teams can ask for a tenant with the form of this repository.',
      'Optional: let teams ask for a tenant with an issue form, `.github/ISSUE_TEMPLATE/tenant-request.yml`. An admin can onboard one with `/bailiwick onboard TENANT --repo URL --namespace NS --cluster C` at any time.',
    ),
  ]
  return [
    '### What to do next',
    '',
    ...steps,
    '',
    'The boxes follow what is found. Close this issue to be left alone.',
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
    return `- [ ] Approve and merge #${baseline.pull}: it lists what stands today (${standing}) in \`.github/bailiwick-baseline.yaml\`, so that branches are green again and only what is new counts.`
  }
  if (baseline.kind === 'not-needed') return '- [x] No baseline is needed: nothing stands that would block.'
  if (baseline.kind === 'present') return '- [x] The baseline file lists what stood here before.'
  return `- [ ] Mend what stands (${standing}), or write it down with \`bailiwick baseline\`: until then the check on the branches themselves is red.`
}
