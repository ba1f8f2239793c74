import { bullets, code, fenced, markdownOf, prose } from '../../base/markup.ts'
import { andMore, firstNames } from '../../base/name-list.ts'
import { display } from '../../kube/object.ts'
import { changesText } from '../../report/changes-text.ts'
import { matrixTable } from '../../report/matrix.ts'
import { decisionSentences } from '../../report/text/decisions.ts'
import { count, stateText } from '../../report/text/findings.ts'
import { fitBudget, fold, type Section } from '../../report/text/fit-budget.ts'
import { shortUrl } from '../../report/text/place.ts'
import { failureText, findingText } from '../../report/verdict-sections.ts'
import type { Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import type { RuleText } from '../../rules/model/rule.ts'
import type { WantedRuleset } from '../../verdict/branch-ruleset.ts'
import { CHECK_NAME } from '../../verdict/check-names.ts'
import type { HumanDecisions } from '../../verdict/decide.ts'
import type { Changes } from '../../verdict/diff/changes.ts'
import { waivedUntil } from '../../verdict/states.ts'
import { groupFailures, groupFindings } from '../../verdict/summary.ts'
import { commandError, quoted } from './command-line.ts'

/** The state of a pull request. */
interface Status {
  readonly head: string
  readonly base: string
  /** Our check run on the head; absent if there is none yet. */
  readonly run?: { readonly status: string; readonly conclusion: string | null; readonly title: string }
  /** The title that would be published now. */
  readonly title: string
  /** As its readers may see it; absent if there is none. */
  readonly verdict?: Verdict
  readonly decisions: HumanDecisions
}

/** Formats the status of a pull request as Markdown: verdict, clusters, checks, and what people decided. */
export function statusText(status: Status): string {
  const { verdict, decisions } = status
  const head = [
    `**${prose(status.title)}**`,
    [
      `- Head: ${code(status.head.slice(0, 12))}, onto ${code(status.base)}`,
      `- Check: ${checkLine(status)}`,
      ...decisionSentences(decisions).map(one => `- ${markdownOf(one)}`),
    ].join('\n'),
    ...(verdict ? [matrixTable(verdict)] : []),
  ]
  return fitBudget(head, verdict ? lists(verdict) : [])
}

function checkLine({ run }: Status): string {
  if (!run) return 'not posted yet; queued'
  if (run.status === 'queued') return 'queued'
  if (run.status !== 'completed') return 'in progress'
  return `${code(run.conclusion ?? '')}, ${prose(run.title)}`
}

function lists({ violations, warnings }: Verdict): Section[] {
  const of = (findings: readonly Finding[], state: Finding['state']) => findings.filter(one => one.state === state)
  return [
    ...list('New', of(violations, 'new'), false),
    ...list('Waived', of(violations, 'waived'), true),
    ...list('Existing', of(violations, 'standing'), true),
    ...list('Warnings', of(warnings, 'new'), true),
  ]
}

function list(heading: string, findings: readonly Finding[], folded: boolean): Section[] {
  if (findings.length === 0) return []
  const groups = groupFindings(findings)
  const body = bullets(groups, 100, ({ finding, objects, clusters }) => {
    const more = andMore(objects.length - 1)
    const where = clusters.slice(0, 5).map(name => code(name, 80))
    return `${code(shortFingerprint(finding.fingerprint))} ${code(finding.rule)}: ${code(display(finding.object))}${more} on ${where.join(', ')}${waiverText(finding)}`
  })
  const title = `${heading} (${groups.length})`
  return [{ text: folded ? fold(title, body) : `**${title}**\n\n${body}`, label: `list of ${heading.toLowerCase()}` }]
}

const waiverText = ({ waiver }: Finding): string => (waiver ? `. ${prose(waivedUntil(waiver))}` : '')

/** Usage of the command. */
export const EXPLAIN_USAGE = 'explain RULE|FINDING'

/**
 * Explains a rule and lists its findings on a pull request. `verdict`: as its readers may see it; absent if there is
 * none. Throws `command-input` for an unknown rule or finding.
 */
export function explainText(
  target: string | undefined,
  rules: readonly RuleText[],
  here: string,
  verdict: Verdict | undefined,
): string {
  if (target === undefined)
    throw commandError('the rule or finding is missing', `Write \`/bailiwick ${EXPLAIN_USAGE}\``)
  const failures = (verdict?.errors ?? []).map(failure => ({ ...failure, rule: failure.code }))
  const findings = [...(verdict?.violations ?? []), ...(verdict?.warnings ?? [])].filter(one => one.state !== 'fixed')
  const isRule = (id: string) => rules.some(rule => rule.id === id) || failures.some(({ rule }) => rule === id)
  if (verdict === undefined && !isRule(target)) {
    throw commandError(`unknown rule ${quoted(target)}`, '`docs/rules.md` lists the rules.')
  }
  const found = findFindings<Finding | (typeof failures)[number]>(target, [...findings, ...failures], isRule)
  const rule = rules.find(({ id }) => id === (found[0]?.rule ?? target))
  const head = rule ? ruleText(rule) : `${code(found[0]?.rule ?? target)} is an evaluation error; it cannot be waived.`
  return fitBudget(head, found.length === 0 ? none(verdict) : sections(found, here))
}

function ruleText({ id, title, why, source, docs, severity, level = 'violation' }: RuleText): string {
  const weight = level === 'violation' ? severity : `${level}, ${severity}`
  return [
    `### ${code(id)}: ${prose(title)} (${weight})`,
    prose(why),
    `**What to do:** ${prose(docs)}`,
    ...(source ? [`Source: ${prose(source)}`] : []),
  ].join('\n\n')
}

function none(verdict: Verdict | undefined): Section[] {
  return verdict === undefined ? [] : [{ text: 'This pull request has no finding of this rule.', label: '' }]
}

function sections(found: readonly (Finding | NodeFailure)[], here: string): Section[] {
  const causes = groupFailures(found.filter((one): one is NodeFailure => 'code' in one))
  const groups = groupFindings(found.filter((one): one is Finding => !('code' in one)))
  return [
    { text: `**Here** (${count(groups.length + causes.length, 'finding')}):`, label: '' },
    ...groups.map(group => ({
      text: `${findingText(group, here)}\n- Finding: ${code(shortFingerprint(group.finding.fingerprint))} (${stateText(group.finding.state)})`,
      label: 'finding',
    })),
    ...causes.map(group => ({ text: failureText(group, here), label: 'error' })),
  ]
}

/** Shorter prefixes of a fingerprint are ambiguous. */
const SHORTEST = 6

/**
 * Finds the visible findings of a rule, or the one whose fingerprint starts with `target`. `isRule`: whether the rule
 * exists. Throws `command-input` if nothing matches, or more than one finding.
 */
export function findFindings<T extends Pick<Finding, 'rule' | 'fingerprint'>>(
  target: string,
  findings: readonly T[],
  isRule: (id: string) => boolean,
): readonly T[] {
  if (isRule(target)) return findings.filter(({ rule }) => rule === target)
  if (!/^[0-9a-f]{6,32}$/.test(target)) {
    throw commandError(
      `unknown rule ${quoted(target)}, and a finding has at least ${SHORTEST} hexadecimal digits`,
      '`docs/rules.md` lists the rules, `/bailiwick status` the findings.',
    )
  }
  const found = findings.filter(({ fingerprint }) => fingerprint.startsWith(target))
  const different = new Set(found.map(({ fingerprint }) => fingerprint))
  if (different.size === 1) return found
  const what = different.size === 0 ? 'no finding here starts' : `${different.size} findings here start`
  const fix = different.size === 0 ? '`/bailiwick status` lists the findings.' : 'Write more of its digits.'
  throw commandError(`${what} with ${target}`, fix)
}

/** The short form of a fingerprint, as shown to people. */
function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, 12)
}

/** Usage of the command. */
export const DIFF_USAGE = 'diff [CLUSTER]'

/**
 * Describes the rendered changes of a pull request that its readers may see. `clusters`: the visible cluster names.
 * Throws `command-input` for any other name.
 */
export function diffText(
  words: readonly string[],
  changes: Changes | undefined,
  clusters: readonly string[],
  page: string | undefined,
): string {
  const [cluster, more] = words
  if (more !== undefined)
    throw commandError(`${quoted(more)} is an extra argument`, `Write \`/bailiwick ${DIFF_USAGE}\``)
  if (cluster !== undefined && !clusters.includes(cluster)) {
    throw commandError(`unknown cluster ${quoted(cluster)}`, `Clusters: ${clusters.join(', ') || 'none'}.`)
  }
  if (!changes) return 'The rendered changes are unknown. The check has the reason.'
  return changesText(changes, {
    ...(cluster === undefined ? {} : { cluster }),
    ...(page === undefined ? {} : { page }),
  })
}

/** The result of setting the ruleset of one repository. */
export interface GateSetting {
  readonly url: string
  readonly branches: readonly string[]
  /** `refused`: GitHub refuses the App; `role`: the author is not an admin; `unread`: GitHub does not show it. */
  readonly outcome: 'set' | 'real' | 'refused' | 'role' | 'unread'
  /** With `refused`: the ruleset to set. */
  readonly ruleset?: WantedRuleset
}

const MAX_SHOWN = 20

/** The reply to `/bailiwick gate`; undefined if everything was set and there is nothing to report. */
export function gateAnswer(settings: readonly GateSetting[]): string | undefined {
  const of = (outcome: GateSetting['outcome']) => settings.filter(one => one.outcome === outcome)
  const [refused, role, unread] = [of('refused'), of('role'), of('unread')]
  if (refused.length + role.length + unread.length === 0) {
    return of('set').length > 0 ? undefined : `${code(CHECK_NAME)} is already required from this App everywhere.`
  }
  const parts: string[] = []
  if (of('set').length > 0) parts.push(`Set: ${names(of('set'))}.`)
  if (refused.length > 0) parts.push(...byHand(refused))
  if (role.length > 0)
    parts.push(`Not set, because you do not administer it: ${names(role)}. Ask a repository admin to run this command.`)
  if (unread.length > 0) parts.push(`Not checked, because GitHub does not show it to the App: ${names(unread)}.`)
  return parts.join('\n\n')
}

/** The reply to `/bailiwick gate off`. Rulesets of another name, and branch protection, are not the App's. */
export function gateOffAnswer(settings: readonly GateSetting[]): string {
  const of = (outcome: GateSetting['outcome']) => settings.filter(one => one.outcome === outcome)
  const [done, refused, role, unread] = [of('set'), of('refused'), of('role'), of('unread')]
  const parts: string[] = []
  if (done.length > 0)
    parts.push(
      `Removed from the rulesets *Bailiwick*: ${names(done)}. Other rules that require the check stay. ${code('/bailiwick gate')} sets the rulesets again.`,
    )
  if (refused.length > 0)
    parts.push(
      `Bailiwick cannot change rulesets of ${names(refused)}: it lacks **Administration: write**. Grant that permission and ask again, or delete the ruleset *Bailiwick* at *Settings → Rules → Rulesets*.`,
    )
  if (role.length > 0)
    parts.push(
      `Not changed, because you do not administer it: ${names(role)}. Ask a repository admin to run this command.`,
    )
  if (unread.length > 0) parts.push(`Not changed, because the App cannot read it: ${names(unread)}.`)
  return parts.length > 0 ? parts.join('\n\n') : 'Clusters follow no branch, so no ruleset was changed.'
}

function names(settings: readonly GateSetting[]): string {
  return firstNames(settings, MAX_SHOWN, ({ url, branches }) => {
    const listed = branches.slice(0, 5).map(branch => code(branch, 100))
    return `${code(shortUrl(url))} (${listed.join(', ')}${branches.length > 5 ? ', …' : ''})`
  })
}

function byHand(refused: readonly GateSetting[]): string[] {
  const [first] = refused
  return [
    `Bailiwick cannot create the ruleset in ${names(refused)}: it lacks **Administration: write**. Grant that permission and ask again, or create the ruleset yourself in each of them:`,
    `*Settings → Rules → Rulesets → New ruleset → Import a ruleset* with the file below; or *New branch ruleset* with enforcement *Active*, an empty bypass list, these branches as targets, *Restrict deletions*, *Require a pull request before merging*, *Block force pushes* and *Require status checks to pass* with ${code(CHECK_NAME)}, this App as its source and *Require branches to be up to date*.`,
    ...(first?.ruleset ? [foldGate(first)] : []),
  ]
}

function foldGate({ url, ruleset }: GateSetting): string {
  const file = fenced('json', JSON.stringify(ruleset, null, 2).split('\n'))
  return fold('The file', `For ${code(shortUrl(url))}:\n\n${file}`)
}
