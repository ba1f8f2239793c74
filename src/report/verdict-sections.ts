import { bullets, code, markdownOf, ownCode, prose } from '../base/markup.ts'
import { fixOf, typedMessage } from '../base/message.ts'
import { andMore, firstNames } from '../base/name-list.ts'
import { display } from '../kube/object.ts'
import type { ChangedFile, EvaluatedNode, Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import { UNENCRYPTED_SETTING } from '../rules/secrets/plaintext-secret.ts'
import { type ChangePrunes, MAX_PRINTS } from '../verdict/change-prunes.ts'
import {
  countFindings,
  type FailureGroup,
  type FindingGroup,
  groupApprovals,
  groupFailures,
  groupFindings,
} from '../verdict/summary.ts'
import { impactSection } from './policy-impact.ts'
import { count, fixMessage, isNew, noteOf, stateText } from './text/findings.ts'
import { fold, type Section, sectionOf } from './text/fit-budget.ts'
import { placeOf, shortUrl } from './text/place.ts'

/** The parts of a verdict as Markdown sections, what matters most first; the end is what may be left out. */
export function verdictSections(verdict: Verdict, here: string): Section[] {
  const fresh = verdict.errors.filter(isNew)
  const standing = verdict.errors.filter(failure => !isNew(failure))
  const { reported = [], warnings = [] } = Object.groupBy(verdict.warnings.filter(isNew), finding =>
    finding.reported ? 'reported' : 'warnings',
  )
  return [
    ...approvalSections(verdict),
    ...impactSections(verdict, here),
    ...list('Could not be evaluated', groupFailures(fresh), 'error', group => failureText(group, here)),
    ...byRule(verdict.violations.filter(isNew), 'violation', here),
    ...byRule(reported, 'reported violation', here),
    ...byRule(warnings, 'warning', here),
    ...notSeenSections(verdict),
    ...notReachedSections(verdict, here),
    ...changedFilesSections(verdict),
    ...notEvaluatedSections(verdict),
    ...foldedErrors(groupFailures(standing), here),
    ...folded('Existing violations: they block only when they change', verdict, 'standing', here),
    ...folded('Waived', verdict, 'waived', here),
    ...folded('Fixed by this change', verdict, 'fixed', here),
  ]
}

/** What passes only with an approval, where it is unknown whether there is one. */
function approvalSections({ requiredApprovals }: Verdict): Section[] {
  const all = groupApprovals(requiredApprovals)
  if (all.length === 0) return []
  const list = bullets(all, 20, ({ rule, path, message }) => `${code(rule)}, ${code(path)}: ${prose(message)}`)
  const heading = `A fleet admin must approve this change (${count(all.length, 'reason')})`
  return [{ text: fold(heading, list), label: 'list of required approvals' }]
}

/** Summarizes what changed policies do to existing objects; the single findings follow. */
function impactSections(verdict: Verdict, here: string): Section[] {
  const impact = impactSection(verdict, here)
  return impact ? [{ text: fold(impact.heading, impact.list), label: 'list of objects that policies affect' }] : []
}

function list<T>(heading: string, items: readonly T[], label: string, text: (item: T) => string): Section[] {
  if (items.length === 0) return []
  return [{ text: `### ${heading}`, label: '' }, ...items.map(item => sectionOf(label, () => text(item)))]
}

function byRule(findings: readonly Finding[], noun: string, here: string): Section[] {
  return [...Map.groupBy(groupFindings(findings), ({ finding }) => finding.rule)].flatMap(([rule, groups]) => {
    const heading = `### ${code(rule)}: ${count(groups.length, noun)} (${groups[0]!.finding.severity})`
    return [
      { text: heading, label: '' },
      ...groups.map(group => sectionOf(`${noun} of ${code(rule)}`, () => findingText(group, here))),
    ]
  })
}

/** How many lines a list of less weight has. */
const MAX_LISTED = 50

function notSeenSections({ notSeen }: Verdict): Section[] {
  if (notSeen.length === 0) return []
  const list = bullets(notSeen, MAX_LISTED, ({ source, url, reason }) => {
    return `${code(source)}${url === '' ? '' : ` at ${code(url)}`}: ${prose(reason)}`
  })
  const sources = notSeen.length === 1 ? 'this source' : `these ${notSeen.length} sources`
  const it = notSeen.length === 1 ? 'it' : 'them'
  const isOther = notSeen.some(({ what = 'sources' }) => what !== 'sources')
  const heading = `Bailiwick could not ${isOther ? 'evaluate what is listed here' : `read ${sources}`}. It checked only the permissions of the account that deploys ${it}`
  return [{ text: fold(heading, list), label: 'list of sources that are not visible' }]
}

function notReachedSections({ notReached }: Verdict, here: string): Section[] {
  return foldedList(
    notReached,
    `Not reached: ${count(notReached.length, 'Kustomization')} that no cluster builds`,
    'Kustomizations that no cluster builds',
    ({ id, origin, reason }) => `${code(id)} at ${code(placeOf(origin, here))}: ${prose(reason)}`,
  )
}

/** A list that is folded; nothing where it would be empty. */
function foldedList<T>(
  items: readonly T[],
  summary: string,
  what: string,
  line: (one: T) => string,
  most = MAX_LISTED,
): Section[] {
  if (items.length === 0) return []
  return [{ text: fold(summary, bullets(items, most, line)), label: `list of ${what}` }]
}

/** The classification of each changed file, folded. */
export function changedFilesSections({ changedFiles = [] }: Pick<Verdict, 'changedFiles'>): Section[] {
  const { counts, lines } = changedFilesLines(changedFiles, text => code(text, 300))
  return foldedList(lines, counts, 'changed files', line => line, lines.length)
}

/** One folded line each for kinds and for Secrets, however many there are. */
function notEvaluatedSections({ notEvaluated }: Verdict): Section[] {
  const { values = [], kinds = [] } = Object.groupBy(notEvaluated, ({ rule }) =>
    rule === UNENCRYPTED_SETTING ? 'values' : 'kinds',
  )
  const names = new Set(kinds.map(({ object }) => `${object.apiVersion} ${object.kind}`)).size
  const secrets = groupFindings(values)
  const line = ({ finding }: FindingGroup) => markdownOf(typedMessage(finding))
  return [
    ...foldedList(
      groupFindings(kinds),
      `Not evaluated: what ${count(names, 'kind')} of custom objects can do`,
      'kinds that were not evaluated',
      line,
    ),
    ...foldedList(
      secrets,
      `Not encrypted and taken for settings: values of ${count(secrets.length, 'object')}`,
      'Secrets with settings in the open',
      line,
    ),
  ]
}

function foldedErrors(groups: readonly FailureGroup[], here: string): Section[] {
  if (groups.length === 0) return []
  const texts = groups.slice(0, MAX_LISTED).map(group => failureText(group, here, false))
  const left = andMore(groups.length - texts.length)
  const heading = `Existing evaluation errors (${groups.length})`
  return [
    {
      text: fold(heading, [...texts, ...(left === '' ? [] : [`…${left}`])].join('\n\n')),
      label: 'list of existing errors',
    },
  ]
}

function folded(summary: string, verdict: Verdict, state: Finding['state'], here: string): Section[] {
  const groups = groupFindings(verdict.violations.filter(finding => finding.state === state))
  if (groups.length === 0) return []
  const texts = groups.slice(0, 20).map(group => findingText(group, here, false))
  const left = groups.length - texts.length
  if (left > 0) texts.push(`…${andMore(left)}`)
  const label = `list of ${count(groups.length, `${stateText(state)} violation`)}`
  return [{ text: fold(`${summary} (${groups.length})`, texts.join('\n\n')), label }]
}

/** How many objects of one finding are listed. */
const MAX_OBJECTS = 20
const MAX_NAMED = 5

/**
 * One finding as a Markdown list: what, where, how to fix; and behind a fold, if `folds`, the objects that its cause reaches,
 * who applies them, what the cluster would answer, what follows, and the way of the value to the cluster. Escaped.
 */
export function findingText(group: FindingGroup, here: string, folds = true): string {
  const { finding, objects, clusters, tenants, identities, followers } = group
  const answer = objects.length === 1 ? finding.clusterAnswer : undefined
  const via = finding.via.map(step => `${step.step} ${code(`${step.file}:${step.line}`)}`).slice(0, 8)
  const lines = [
    `**${titleOf(group)}** on ${names(clusters)}`,
    `- What: ${markdownOf(typedMessage(finding))}`,
    `- Where: ${code(placeOf(finding.origin, here) || 'no file')}, field ${code(finding.field || '/')}`,
    `- Fix: ${markdownOf(fixMessage(group, here))}`,
  ]
  const more = [
    ...(objects.length > 1 ? [`- Objects: ${objectList(group)}`] : []),
    `- Applied by: ${names(identities)} (${firstNames(tenants, MAX_NAMED, tenantText)})`,
    ...(answer ? [`- Cluster response: ${prose(answer)}`] : []),
    ...followers.map(follower => `- Follows from this: ${followerText(follower)}`),
    ...(finding.level === 'violation' && isNew(finding)
      ? [
          `- Waive: ${ownCode(`/bailiwick waive ${finding.fingerprint.slice(0, 12)} REASON`)} asks a fleet admin to accept it`,
        ]
      : []),
    ...(folds && via.length > 0 ? [`- Through: ${via.join(', ')}`] : []),
  ]
  return folds ? `${lines.join('\n')}\n\n${fold('Details', more.join('\n'))}` : [...lines, ...more].join('\n')
}

/** The object, or how many there are. */
function titleOf({ finding, objects }: FindingGroup): string {
  return objects.length === 1 ? code(display(finding.object)) : count(objects.length, 'object')
}

/** One line for a finding that follows from another one. */
function followerText(group: FindingGroup): string {
  return `${code(group.finding.rule)} for ${group.objects.length === 1 ? '' : `${count(group.objects.length, 'object')}: `}${objectList(group)}`
}

/** Objects, each with its clusters where it is not on all of those of the finding. */
function objectList({ objects, clusters }: FindingGroup): string {
  return firstNames(objects, MAX_OBJECTS, ({ object, clusters: on }) => {
    return `${code(display(object))}${on.length < clusters.length ? ` (${names(on)})` : ''}`
  })
}

const names = (list: readonly string[]): string => firstNames(list, MAX_NAMED, name => code(name, 120))

const tenantText = (tenant: string) => (tenant === '' ? 'the platform' : `tenant ${code(tenant, 80)}`)
/** What could not be evaluated, the same way: one error for all nodes that have it. `folds`: the rest is behind a fold. */
export function failureText(group: FailureGroup, here: string, folds = true): string {
  const { failure, nodes } = group
  const place = placeOf(failure.origin, here)
  const note = noteOf(group, here)
  const lines = [
    `**${firstNames(nodes, 1, key => code(key)) || 'The fleet'}** (${code(failure.code)}, ${isNew(failure) ? 'new' : 'existing'})`,
    `- What: ${markdownOf(typedMessage(failure))}`,
    ...(place ? [`- Where: ${code(place)}`] : []),
    ...(failure.fix ? [`- Fix: ${markdownOf(fixOf(failure))}`] : []),
  ]
  const more = [
    ...(nodes.length > (folds ? 0 : 1) ? [`- Kustomizations: ${firstNames(nodes, MAX_NODES, key => code(key))}`] : []),
    ...(note === '' ? [] : [`- Note: ${prose(note)}`]),
  ]
  const isFolded = folds && more.length > 0
  return isFolded ? `${lines.join('\n')}\n\n${fold('Details', more.join('\n'))}` : [...lines, ...more].join('\n')
}

/** How many Kustomizations are listed. */
const MAX_NODES = 20

/** What the worker would hold back after the merge, and how it is approved before; '' for nothing. */
export function pruneSection(prunes: ChangePrunes | undefined): string {
  if (prunes === undefined) return ''
  const { digest, nodes, hidden, prints, approvedBy } = prunes
  const lines = nodes.slice(0, MAX_NODES).map(({ node, what }) => `- ${code(node)}: ${prose(what)}`)
  const left = nodes.length - lines.length
  if (left > 0) lines.push(`- and ${count(left, 'Kustomization')} more`)
  if (hidden > 0) lines.push(`- ${count(hidden, 'Kustomization')} not visible here`)
  const heading = `Deletes much at once (${count(nodes.length + hidden, 'Kustomization')}). After the merge, the worker waits for an approval`
  return fold(
    approvedBy === undefined ? heading : 'Deletes much at once (approved)',
    `${lines.join('\n')}\n\n${stepOf()}`,
  )

  function stepOf(): string {
    if (approvedBy !== undefined)
      return `${code(approvedBy, 80)} approved these objects. The worker deletes them after the merge without asking again.`
    const wait = 'The merge is not blocked. After it, the worker waits for an approval before it deletes these objects.'
    if (prints.length > MAX_PRINTS)
      return `${wait} More than ${MAX_PRINTS} objects cannot be approved before the merge.`
    return `${wait} To approve them before, a fleet admin comments ${ownCode(`/bailiwick approve-prune ${digest}`)}. A push that deletes anything else needs another approval.`
  }
}

const MAX_REPOSITORIES = 30
const MAX_CLUSTERS = 10

/**
 * A fold that lists the repositories, other than `here`, whose own Kustomizations a change newly breaks:
 * `acme/dev-team (3 new violations on production)`. `''` for none.
 */
export function wouldBreak(verdict: Verdict, nodes: readonly EvaluatedNode[], here: string): string {
  const urls = new Map(nodes.map(node => [node.key, node.source.url]))
  const broken = new Map<string, { violations: Finding[]; errors: NodeFailure[] }>()
  const of = (node: string) => {
    const url = urls.get(node)
    if (url === undefined || url === here) return undefined
    const one = broken.get(url) ?? { violations: [], errors: [] }
    broken.set(url, one)
    return one
  }
  for (const finding of verdict.violations.filter(isNew)) of(finding.node)?.violations.push(finding)
  for (const failure of verdict.errors.filter(isNew)) of(failure.node)?.errors.push(failure)
  if (broken.size === 0) return ''
  const lines = [...broken]
    .sort(([a, one], [b, two]) => weight(two) - weight(one) || (a < b ? -1 : 1))
    .map(([url, one]) => `${code(nameOf(url))} (${what(one)})`)
  return fold(
    `Would break ${lines.length} other ${lines.length === 1 ? 'repository' : 'repositories'}`,
    firstNames(lines, MAX_REPOSITORIES),
  )
}

interface Broken {
  readonly violations: readonly Finding[]
  readonly errors: readonly NodeFailure[]
}

const weight = ({ violations, errors }: Broken) => violations.length + errors.length

function what({ violations, errors }: Broken): string {
  const parts = [
    ...(violations.length > 0 ? [count(countFindings(violations), 'new violation')] : []),
    ...(errors.length > 0 ? [count(errors.length, 'new error')] : []),
  ]
  const clusters = [...new Set([...violations, ...errors].map(item => item.cluster))].sort()
  return `${parts.join(', ')} on ${firstNames(clusters, MAX_CLUSTERS, name => code(name, 80))}`
}

/** `acme/dev-team` of github.com; the whole address of any other host. */
const nameOf = (url: string) => shortUrl(url).replace(/^github\.com\//, '')

/** Words for each state, the most important first. */
const STATES: readonly (readonly [ChangedFile['state'], string])[] = [
  ['unseen', 'not checked'],
  ['unread', 'read by nothing'],
  ['rendered', 'rendered'],
]
/** So many files of one state are named, and so many of what reads one. */
const FEW = 20
const FEW_READERS = 3

/**
 * What becomes of the changed files: a line of counts, and one for each file but those in the state `besides`. `show`: a
 * value as the surface writes it.
 */
export function changedFilesLines(
  files: readonly ChangedFile[],
  show: (value: string) => string,
  besides?: ChangedFile['state'],
): { readonly counts: string; readonly lines: readonly string[] } {
  const byState = STATES.flatMap(([state, words]) => {
    const all = files.filter(one => one.state === state)
    return all.length === 0 ? [] : [{ state, words, all }]
  })
  const counts = `Changed files: ${byState.map(({ words, all }) => `${all.length} ${words}`).join(', ')}`
  const lines = byState.flatMap(({ state, words, all }) => {
    if (state === besides) return []
    const shown = all.slice(0, FEW).map(one => `${words}: ${show(one.path)}${readersOf(one, show)}`)
    return all.length > FEW ? [...shown, `${words}: ${all.length - FEW} more`] : shown
  })
  return { counts, lines }
}

function readersOf({ by, readers }: ChangedFile, show: (value: string) => string): string {
  return readers === 0 ? '' : `: ${firstNames(by, FEW_READERS, show, readers - by.length)}`
}
