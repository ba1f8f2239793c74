import { code, prose } from '../base/markup.ts'
import { firstNames } from '../base/name-list.ts'
import { CHECK_NAME } from '../verdict/check-names.ts'
import type { GateGap, GateState } from '../verdict/evaluate-protection.ts'
import {
  auditSections,
  type BranchGate,
  designationSection,
  type FirstReportFacts,
  legacySections,
  sourcesSection,
  type TrailFacts,
  table,
  tenantsSection,
} from './first-report-sections.ts'
import { count } from './text/findings.ts'
import { fitBudget, type Section } from './text/fit-budget.ts'
import { shortUrl } from './text/place.ts'

/** By this first line the report is found again; only one that our App wrote is taken for it. */
export const REPORT_MARKER = '<!-- bailiwick:first-report -->'

export const REPORT_TITLE = 'Bailiwick: what it found in this fleet'

/**
 * The body of the first report, Markdown under GitHub's limit: the same facts give the same text, and nothing of a time
 * or a commit is in it, so that it is rewritten only when there is something else to say.
 */
export function firstReport(facts: FirstReportFacts): string {
  const sections: Section[] = [
    ...gateSections(facts),
    tenantsSection(facts.survey),
    ...auditSections(facts.survey, facts.url),
    ...legacySections(facts),
    sourcesSection(facts.survey),
  ]
  const head = [lead(facts), designationSection(facts.url, facts.designation), nextSteps(facts)]
  return fitBudget(
    head,
    sections.filter(({ text }) => text !== ''),
  )
}

const EVALUATES = 'Bailiwick evaluates every pull request of this fleet and of the repositories that it deploys from. '

function lead({ url, survey, designation }: FirstReportFacts): string {
  const standing = survey.legacy.reduce((sum, { count: number }) => sum + number, 0)
  const found = [count(survey.clusters.length, 'cluster'), count(survey.tenants.length, 'tenant')].join(', ')
  const what = standing > 0 ? count(standing, 'existing violation') : 'no violations'
  const undecided = survey.errorCount > 0 ? `, ${count(survey.errorCount, 'evaluation error')}` : ''
  return [
    `**${prose(survey.summary, 500)}**`,
    `${designation?.kind === 'none' ? '' : EVALUATES}In ${code(shortUrl(url))} it found ${found}, ${what}${undecided}.`,
    '**Existing violations do not block:** a pull request is compared with its base, and only what it adds or makes worse blocks it.',
  ].join('\n\n')
}

/** Lists the next steps as checkboxes that reflect the survey. */
function nextSteps({ survey, gates, baseline, hasForm }: FirstReportFacts): string {
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
  const why = baseline.kind === 'refused' ? ' Bailiwick cannot open that pull request: it lacks "Contents: write".' : ''
  return `- [ ] Fix existing findings (${standing}), or record them with \`bailiwick baseline\`: until then the check on the branches fails.${why}`
}

const MAX_ROWS = 60
const MAX_DETAILS = 20
const MAX_NAMED = 8

const WORDS: Readonly<Record<GateState, string>> = {
  real: '✅ required from this App',
  weak: '⚠️ required from this App, but can be bypassed',
  open: '❌ not required from this App',
  unknown: '❔ GitHub does not show it',
}

/** Whether the check is a gate, branch by branch, and how to make it one. The branches that are not gated come first. */
function gateSections({ gates, trail }: FirstReportFacts): Section[] {
  const order: readonly (GateState | undefined)[] = ['open', 'unknown', undefined, 'weak', 'real']
  const sorted = [...gates].sort((a, b) => order.indexOf(a.gate?.state) - order.indexOf(b.gate?.state))
  const rows = sorted.map(one => [code(shortUrl(one.url)), code(one.branch, 100), stateText(one)])
  // a thousand tenants are protected in a handful of ways
  const gaps = [...Map.groupBy(sorted, ({ gate }) => (gate?.gaps ?? []).map(gapText).join('\n'))].filter(
    ([text]) => text !== '',
  )
  const left = gaps.length - MAX_DETAILS
  return [
    {
      text: `### Required check\n\nA verdict protects a branch only if GitHub requires the check ${code(CHECK_NAME)} from this App on that branch.\n\n${table(['repository', 'branch', 'gate'], rows, MAX_ROWS)}`,
      label: 'table of gates',
    },
    ...gaps
      .slice(0, MAX_DETAILS)
      .map(([text, of]) => ({ text: gapsText(text, of), label: 'list of gaps in the required check' })),
    ...(left > 0 ? [{ text: `… and ${left} more gaps.`, label: '' }] : []),
    ...(gaps.length > 0 ? [{ text: HOW, label: 'instructions for the required check' }] : []),
    ...(trail ? [{ text: trailText(trail), label: 'state of the trail' }] : []),
  ]
}

const stateText = ({ gate, unread }: BranchGate) => (gate ? WORDS[gate.state] : `❔ ${prose(unread ?? '', 200)}`)

function gapsText(text: string, branches: readonly BranchGate[]): string {
  const names = firstNames(branches, MAX_NAMED, ({ url, branch }) => `${code(shortUrl(url))} ${code(branch, 100)}`)
  return `${names}:\n\n${text}`
}

const MARKS = { open: '❌', weak: '⚠️', note: 'ℹ️' } as const

function gapText({ level, what, fix }: GateGap): string {
  return `- ${MARKS[level]} ${prose(what, 400)}.${fix ? ` **Fix:** ${prose(fix, 300)}` : ''}`
}

function trailText(trail: TrailFacts | 'off'): string {
  if (trail === 'off') return OFF
  const { branch, gaps } = trail
  const title = `### Trail\n\nDecisions about this fleet are written to the branch ${code(branch)}.`
  if (gaps === undefined) return `${title} Nothing is written yet.`
  if (gaps.length === 0) return `${title} ✅ It is protected, and this App wrote its latest commits.`
  return `${title}\n\n${gaps.map(gapText).join('\n')}`
}

const OFF = '### Trail\n\nDecisions about this fleet are not recorded. The operator turns the trail on with `TRAIL=on`.'

const HOW = [
  `**How:** *Settings → Rules → Rulesets → New branch ruleset*, enforcement *Active*, an empty bypass list, the branch as target; *Require status checks to pass* with ${code(CHECK_NAME)} and this App as its source, *Require branches to be up to date*; *Require a pull request*, *Block force pushes*, *Restrict deletions*.`,
  'The comment `/bailiwick gate` here does that, or answers with a file that GitHub imports as a ruleset.',
].join('\n')
