import { CHECK_NAME } from '../../gate/check-names.ts'
import { andMore } from '../../message/and-more.ts'
import { code, prose } from '../../message/markdown.ts'
import type { GateGap, GateState } from '../../protection/evaluate-gate.ts'
import type { Section } from '../text/fold.ts'
import { shortUrl } from '../text/place.ts'
import type { BranchGate, FirstReportFacts, TrailFacts } from './facts.ts'
import { table } from './shown-list.ts'

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
export function gateSections({ gates, trail }: FirstReportFacts): Section[] {
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
  const shown = branches.slice(0, MAX_NAMED).map(({ url, branch }) => `${code(shortUrl(url))} ${code(branch, 100)}`)
  const left = branches.length - shown.length
  return `${shown.join(', ')}${andMore(left)}:\n\n${text}`
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
