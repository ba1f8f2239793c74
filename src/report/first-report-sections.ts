import { bullets, code, htmlCode, prose } from '../base/markup.ts'
import { andMore, firstNames } from '../base/name-list.ts'
import type { Finding, NodeFailure } from '../rules/model/finding.ts'
import type { AuditItem, ClusterAudit } from '../verdict/audit/audit-item.ts'
import type { FleetSurvey } from '../verdict/audit/survey-fleet.ts'
import type { Gate, GateGap } from '../verdict/evaluate-protection.ts'
import { count } from './text/findings.ts'
import { fold, type Section } from './text/fit-budget.ts'
import { placeOf, shortUrl } from './text/place.ts'

/** What is known of one branch that must be gated; `unread`: why its protection was not looked at. */
export interface BranchGate {
  readonly url: string
  readonly branch: string
  /** Name of the check that it should require; absent: the plain one. */
  readonly check?: string
  readonly gate: Gate | undefined
  readonly unread?: string
}

/** What is known of the branch of a trail; `gaps` undefined: nothing was written yet. */
export interface TrailFacts {
  readonly branch: string
  readonly gaps: readonly GateGap[] | undefined
}

/** How far the baseline is: a file is there, a pull request offers one, people closed that, the App may not open one, nothing needs one. */
export type BaselineState =
  | { readonly kind: 'present' | 'declined' | 'refused' | 'not-needed' }
  | { readonly kind: 'offered'; readonly pull: number }

/** The facts that the first report shows. */
export interface FirstReportFacts {
  /** Normalized address of the fleet. */
  readonly url: string
  readonly survey: FleetSurvey
  readonly gates: readonly BranchGate[]
  readonly baseline: BaselineState
  /** `off`: none is written. */
  readonly trail?: TrailFacts | 'off'
  /** Whether the fleet has the form by which teams ask for a tenant. */
  readonly hasForm: boolean
  /** What an owner of the organization has to decide about who is a fleet. */
  readonly designation?: OpenDesignation
}

/** What is open about who is a fleet. Repositories are named only where this one is named with them. */
type OpenDesignation =
  /** This repository looks like a fleet; `isOnly`: no other one does. */
  | { readonly kind: 'none'; readonly isOnly: boolean }
  /** The organization's file names other fleets than those that were confirmed. */
  | { readonly kind: 'pending'; readonly included: boolean }

const HOW = [
  `- an owner of the organization comments ${code('/bailiwick designate')} on this issue;`,
  `- or list the fleet under ${code('fleets')} in ${code('bailiwick.yaml')} of the organization's ${code('.github')} repository, and confirm it with that comment;`,
  `- or ask the operator of this App to name it in ${code('FLEETS')} or ${code('CLUSTERS_FILE')}.`,
]

/** What an owner has to decide, for the first report of a (possible) fleet; '' where nothing is open. */
export function designationSection(url: string, open: OpenDesignation | undefined): string {
  if (!open) return ''
  const here = code(shortUrl(url))
  if (open.kind === 'none') {
    const others = open.isOnly ? '' : ' Other repositories look like a fleet, too.'
    return [
      '### Not designated',
      '',
      `${here} looks like a fleet because it has a ${code('clusters')} directory.${others} Until one is designated, no tenant is checked against it: pull requests of all repositories get an error that says so.`,
      '',
      `If ${here} is the fleet, do one of these:`,
      '',
      ...HOW,
    ].join('\n')
  }
  const what = open.included
    ? `${here} is among them. An owner of the organization confirms the change with the comment ${code('/bailiwick designate')} here.`
    : `${here} is not among them. It stays the fleet until an owner of the organization confirms the change with the comment ${code('/bailiwick designate')} in one of them.`
  return `### Designation to be confirmed\n\n${code('bailiwick.yaml')} of the organization's ${code('.github')} repository lists other fleets than those that were confirmed. ${what}`
}

const MAX_CLUSTERS = 20
const MAX_ITEMS = 25
const MAX_NAMED = 8

/** Shows the audit of each cluster; clusters with the same result are listed together. */
export function auditSections({ audit }: FleetSurvey, here: string): Section[] {
  const bodies = audit.map(one => ({ cluster: one, body: bodyOf(one, here) }))
  const alike = [...Map.groupBy(bodies, ({ body }) => JSON.stringify(body)).values()].map(all => ({
    body: all[0]!.body,
    clusters: all.map(({ cluster }) => cluster),
  }))
  const shown = alike.slice(0, MAX_CLUSTERS)
  const left = alike.slice(MAX_CLUSTERS).reduce((sum, { clusters }) => sum + clusters.length, 0)
  return [
    ...(shown.length > 0 ? [{ text: '### Lockdown of the clusters', label: '' }] : []),
    ...shown.map(({ body, clusters }) => ({ text: clustersText(clusters, body), label: 'audit of clusters' })),
    ...(left > 0 ? [{ text: `… and ${left} more clusters: \`bailiwick audit\` shows them.`, label: '' }] : []),
  ]
}

interface AuditBody {
  readonly counts: string
  readonly list: string
}

/** How many items are in which state, then the details. */
function bodyOf({ items }: ClusterAudit, here: string): AuditBody {
  const of = (state: AuditItem['state']) => items.filter(item => item.state === state)
  const counts = (['ok', 'weak', 'unknown'] as const).map(state => `${of(state).length} ${state}`).join(', ')
  const open = [...of('weak'), ...of('unknown')]
  return { counts, list: bullets(open, MAX_ITEMS, item => itemText(item, here)) }
}

function clustersText(clusters: readonly ClusterAudit[], { counts, list }: AuditBody): string {
  const names = (show: typeof code) => firstNames(clusters, MAX_NAMED, ({ cluster }) => show(cluster, 80))
  if (list === '') return `✅ ${names(code)}: ${counts}`
  const weak = clusters[0]?.items.some(({ state }) => state === 'weak')
  return fold(`${weak ? '⚠️' : '❔'} ${names(htmlCode)}: ${counts}`, list)
}

function itemText({ check, state, message, fix, origin }: AuditItem, here: string): string {
  const where = origin ? placeOf(origin, here) : ''
  const parts = [
    `${state === 'weak' ? '⚠️' : '❔'} ${code(check, 80)}: ${prose(message, 400)}`,
    ...(where ? [`(${code(where)})`] : []),
    ...(fix ? [`**Fix:** ${prose(fix, 800)}`] : []),
  ]
  return parts.join(' ')
}

const MAX_RULES = 60

/** Lists the existing violations by rule, the most severe ones, and the evaluation errors. */
export function legacySections({ survey, url }: FirstReportFacts): Section[] {
  const { legacy, worst, errors, errorCount } = survey
  const sections: Section[] = []
  if (legacy.length > 0) {
    const rows = legacy.map(({ rule, count }) => [code(rule, 80), String(count)])
    sections.push({
      text: `### Existing violations\n\n${table(['rule', 'violations'], rows, MAX_RULES)}`,
      label: 'table of existing violations',
    })
    sections.push({
      text: ['Most severe:', '', ...worst.map(one => findingText(one, url))].join('\n'),
      label: 'list of the most severe violations',
    })
  }
  if (errors.length > 0) {
    const left = errorCount - errors.length
    const lines = [...errors.map(one => errorText(one, url)), ...(left > 0 ? [`- …${andMore(left)}`] : [])]
    const lead =
      'The worker does not apply a Kustomization with an evaluation error. A change of it is blocked until the error is fixed.'
    sections.push({
      text: `### Evaluation errors\n\n${lead}\n\n${lines.join('\n')}`,
      label: 'list of evaluation errors',
    })
  }
  return sections
}

function findingText({ rule, severity, cluster, tenant, message, origin }: Finding, here: string): string {
  const whose = tenant === '' ? 'the platform' : code(tenant, 80)
  const where = placeOf(origin, here)
  return `- ${severity} ${code(rule, 80)} (${whose} on ${code(cluster, 80)}): ${prose(message, 500)}${where ? ` ${code(where)}` : ''}`
}

function errorText({ code: id, node, message, origin }: NodeFailure, here: string): string {
  const where = placeOf(origin, here)
  return `- ${code(id, 80)} ${code(node, 120)}: ${prose(message, 400)}${where ? ` ${code(where)}` : ''}`
}

const MAX_ROWS = 60

/** Clusters and tenants that the manifests show. */
export function tenantsSection({ clusters, tenants }: FleetSurvey): Section {
  const rows = tenants.map(({ name, clusters: on, namespaces, identities }) => [
    code(name, 80),
    shownList(on),
    shownList(namespaces),
    shownList(identities, 3),
  ])
  const found =
    rows.length > 0
      ? table(['tenant', 'clusters', 'namespaces', 'applied as'], rows, MAX_ROWS)
      : 'No tenants: no namespace carries `toolkit.fluxcd.io/tenant` and no Capsule Tenant owns one.'
  const text = `### Clusters and tenants\n\nClusters: ${shownList(
    clusters.map(({ name }) => name),
    30,
  )}\n\n${found}`
  return { text, label: 'table of tenants' }
}

/** What was read besides the fleet, and what could not be. */
export function sourcesSection({ seen, notSeen }: FleetSurvey): Section {
  const missing = new Map(notSeen.map(one => [JSON.stringify([one.url, one.reason]), one]))
  const rows = [
    ...[...missing.values()].map(({ url, source, reason }) => [
      code(url ? shortUrl(url) : source),
      '',
      `❔ ${prose(reason, 200)}`,
    ]),
    ...seen.map(({ url, ref }) => [code(shortUrl(url)), code(ref, 100), '✅ visible']),
  ]
  if (rows.length === 0) return { text: '', label: '' }
  const text = `### Sources\n\n${table(['repository', 'follows', ''], rows, MAX_ROWS)}`
  return { text, label: 'table of sources' }
}

/** Title and body of the pull request that offers a baseline. */
export function baselineOfferText({ legacy, errorCount }: Pick<FleetSurvey, 'legacy' | 'errorCount'>): {
  readonly title: string
  readonly body: string
} {
  const violations = legacy.reduce((sum, one) => sum + one.count, 0)
  const rows = legacy.map(({ rule, count: number }) => [code(rule, 80), String(number)])
  const listed = [
    `This fleet holds ${count(violations, 'violation')} from before Bailiwick was installed. This file lists them, one entry for each object: they stay visible as *existing*, the check on the branches passes, and only new or worse findings count.`,
    table(['rule', 'violations'], rows, MAX_RULES),
  ]
  const accepted = `It accepts ${count(errorCount, 'evaluation error')}: each entry pins what its error keeps from being evaluated, so other bytes there are an error again. Bailiwick's worker applies nothing of such a Kustomization.`
  return {
    title: violations > 0 ? 'List existing violations' : 'List existing evaluation errors',
    body: [
      ...(violations > 0 ? listed : []),
      ...(errorCount > 0 ? [accepted] : []),
      'Without it pull requests are evaluated as well: each is compared with its base. The list shrinks with `bailiwick baseline`; let an admin own `.github/bailiwick-baseline.yaml` in CODEOWNERS, because growing it lets violations pass.',
      'Close this pull request to fix them first. Bailiwick does not open it again.',
    ].join('\n\n'),
  }
}

/** Names as code spans, the first few of them, and how many there are more. */
function shownList(names: readonly string[], max = 6): string {
  return firstNames(names, max, name => code(name, 80)) || '➖'
}

/** A Markdown table whose cells are Markdown already; beyond `max` rows it counts the rest. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[], max: number): string {
  const left = rows.length - max
  return [
    `| ${titles.join(' | ')} |`,
    `|${titles.map(() => '---|').join('')}`,
    ...rows.slice(0, max).map(row => `| ${row.join(' | ')} |`),
    ...(left > 0 ? ['', `… and ${left} more.`] : []),
  ].join('\n')
}
