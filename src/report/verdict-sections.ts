import { groupApprovals } from '../evaluate/changed/group-approvals.ts'
import { type FindingGroup, groupFindings } from '../evaluate/verdict/group-findings.ts'
import { andMore } from '../message/and-more.ts'
import { code, prose } from '../message/markdown.ts'
import { markdownOf } from '../message/markdown-of.ts'
import { typedMessage } from '../message/said.ts'
import type { Finding, Verdict } from '../rules/model/finding.ts'
import { UNENCRYPTED_SETTING } from '../rules/secrets/unencrypted-setting.ts'
import { impactSection } from './policies/impact-section.ts'
import { changedFilesLines } from './text/changed-files-lines.ts'
import { failureText, findingText } from './text/finding-text.ts'
import { fold, type Section } from './text/fold.ts'
import { groupFailures } from './text/group-failures.ts'
import { count, isNew } from './text/headline.ts'
import { placeOf } from './text/place.ts'

/** The parts of a verdict as Markdown sections, what matters most first; the end is what may be left out. */
export function verdictSections(verdict: Verdict, here: string): Section[] {
  const fresh = verdict.errors.filter(isNew)
  const standing = verdict.errors.filter(failure => !isNew(failure))
  const warnings = verdict.warnings.filter(isNew)
  const reported = warnings.filter(finding => finding.reported)
  return [
    ...approvalSections(verdict),
    ...impactSections(verdict, here),
    ...list('Could not be evaluated', groupFailures(fresh), 'error', group => failureText(group, here)),
    ...byRule(verdict.violations.filter(isNew), 'violation', here),
    ...byRule(reported, 'reported violation', here),
    ...byRule(
      warnings.filter(finding => !finding.reported),
      'warning',
      here,
    ),
    ...notSeenSections(verdict),
    ...notReachedSections(verdict, here),
    ...changedFilesSections(verdict),
    ...notEvaluatedSections(verdict),
    ...list('Existing evaluation errors', groupFailures(standing), 'existing error', group => failureText(group, here)),
    ...folded('Existing violations: they block only when they change', verdict, 'standing', here),
    ...folded('Waived', verdict, 'waived', here),
    ...folded('Fixed by this change', verdict, 'fixed', here),
  ]
}

/** What passes only with an approval, where nobody says whether there is one. */
function approvalSections({ requiredApprovals }: Verdict): Section[] {
  const all = groupApprovals(requiredApprovals)
  if (all.length === 0) return []
  const lines = all.slice(0, 20).map(({ rule, path, message }) => `- ${code(rule)}, ${code(path)}: ${prose(message)}`)
  if (all.length > lines.length) lines.push(`- … and ${all.length - lines.length} more`)
  const text = `### Required approvals of a fleet admin (${all.length})\n\n${lines.join('\n')}`
  return [{ text, label: 'list of required approvals' }]
}

/** Summarizes what changed policies do to existing objects; the single findings follow. */
function impactSections(verdict: Verdict, here: string): Section[] {
  const impact = impactSection(verdict, here)
  return impact
    ? [{ text: `### ${impact.heading}\n\n${impact.list}`, label: 'list of objects that policies affect' }]
    : []
}

function list<T>(heading: string, items: readonly T[], label: string, text: (item: T) => string): Section[] {
  if (items.length === 0) return []
  return [{ text: `### ${heading}`, label: '' }, ...items.map(item => ({ text: text(item), label }))]
}

function byRule(findings: readonly Finding[], noun: string, here: string): Section[] {
  const rules = new Map<string, FindingGroup[]>()
  for (const group of groupFindings(findings)) {
    rules.set(group.finding.rule, [...(rules.get(group.finding.rule) ?? []), group])
  }
  return [...rules].flatMap(([rule, groups]) => {
    const heading = `### ${code(rule)}: ${count(groups.length, noun)} (${groups[0]!.finding.severity})`
    return [
      { text: heading, label: '' },
      ...groups.map(group => ({ text: findingText(group, here), label: `${noun} of ${code(rule)}` })),
    ]
  })
}

function notSeenSections(verdict: Verdict): Section[] {
  if (verdict.notSeen.length === 0) return []
  const lines = verdict.notSeen
    .slice(0, 50)
    .map(seen => `- ${code(seen.source)}${seen.url === '' ? '' : ` at ${code(seen.url)}`}: ${prose(seen.reason)}`)
  const left = verdict.notSeen.length - lines.length
  if (left > 0) lines.push(`- …${andMore(left)}`)
  const text = `### Not visible: only the account that applies it was evaluated\n\n${lines.join('\n')}`
  return [{ text, label: 'list of sources that are not visible' }]
}

function notReachedSections({ notReached }: Verdict, here: string): Section[] {
  if (notReached.length === 0) return []
  const lines = notReached
    .slice(0, 50)
    .map(({ id, origin, reason }) => `- ${code(id)} at ${code(placeOf(origin, here))}: ${prose(reason)}`)
  const left = notReached.length - lines.length
  if (left > 0) lines.push(`- …${andMore(left)}`)
  const open = `<details><summary>Not reached: ${count(notReached.length, 'Kustomization')} that no cluster builds</summary>`
  const text = [open, lines.join('\n'), '</details>'].join('\n\n')
  return [{ text, label: 'list of Kustomizations that no cluster builds' }]
}

/** What becomes of each changed file, folded. */
export function changedFilesSections({ changedFiles = [] }: Pick<Verdict, 'changedFiles'>): Section[] {
  if (changedFiles.length === 0) return []
  const { counts, lines } = changedFilesLines(changedFiles, text => code(text, 300))
  return [{ text: fold(counts, lines.map(line => `- ${line}`).join('\n')), label: 'list of changed files' }]
}

/** One folded line each for kinds and for Secrets, however many there are. */
function notEvaluatedSections({ notEvaluated }: Verdict): Section[] {
  const [values, kinds] = [true, false].map(isValue =>
    notEvaluated.filter(({ rule }) => (rule === UNENCRYPTED_SETTING) === isValue),
  ) as [Finding[], Finding[]]
  const names = new Set(kinds.map(({ object }) => `${object.apiVersion} ${object.kind}`)).size
  return [
    ...listed(
      kinds,
      `Not evaluated: what ${count(names, 'kind')} of custom objects can do`,
      'kinds that were not evaluated',
    ),
    ...listed(
      values,
      `Not encrypted and taken for settings: values of ${count(groupFindings(values).length, 'object')}`,
      'Secrets with settings in the open',
    ),
  ]
}

function listed(findings: readonly Finding[], summary: string, what: string): Section[] {
  const groups = groupFindings(findings)
  if (groups.length === 0) return []
  const lines = groups.slice(0, 50).map(({ finding }) => `- ${markdownOf(typedMessage(finding))}`)
  const left = groups.length - lines.length
  if (left > 0) lines.push(`- …${andMore(left)}`)
  const open = `<details><summary>${summary}</summary>`
  return [{ text: [open, lines.join('\n'), '</details>'].join('\n\n'), label: `list of ${what}` }]
}

function folded(summary: string, verdict: Verdict, state: Finding['state'], here: string): Section[] {
  const groups = groupFindings(verdict.violations.filter(finding => finding.state === state))
  if (groups.length === 0) return []
  const texts = groups.slice(0, 20).map(group => findingText(group, here))
  const left = groups.length - texts.length
  if (left > 0) texts.push(`…${andMore(left)}`)
  const open = `<details><summary>${summary} (${groups.length})</summary>`
  return [
    {
      text: [open, ...texts, '</details>'].join('\n\n'),
      label: `list of ${count(groups.length, `${state === 'standing' ? 'existing' : state} violation`)}`,
    },
  ]
}
