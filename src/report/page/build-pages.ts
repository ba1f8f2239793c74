import { BailiwickError } from '../../base/errors.ts'
import { sayingOf } from '../../base/message.ts'
import { visible } from '../../base/visible.ts'
import type { EvaluatedNode, Evaluation, Finding, Verdict } from '../../rules/model/finding.ts'
import type { CoveredPolicy } from '../../rules/policies/policy-coverage.ts'
import type { AccessOverview } from '../../verdict/audit/access-overview.ts'
import type { AuditItem, ClusterAudit } from '../../verdict/audit/audit-item.ts'
import type { Fix } from '../../verdict/fixes.ts'
import { countFindings, groupFailures } from '../../verdict/summary.ts'
import { CLOSED_ERROR, checkRunOf, isOpenError } from '../check-run.ts'
import { assumedClusters, type Outcome, type PagePlace, type ReportContext } from '../outcome.ts'
import { listedImpact } from '../policy-impact.ts'
import { viewFor } from '../text/audience.ts'
import { isNew } from '../text/findings.ts'
import { type CheckPage, excerptsOf, graphOf, type PageError } from './check-page.ts'
import {
  type FleetPage,
  fleetFindings,
  fleetGraphOf,
  type ListedFinding,
  type SeenSource,
  type StoredPolicy,
} from './fleet-page.ts'

/** What a page holds of each list: more than people read, less than what would fill a store. */
const MAX = {
  violations: 1_000,
  warnings: 500,
  errors: 500,
  tenants: 3_000,
  notSeen: 500,
  notReached: 500,
  graph: 3_000,
}

/**
 * The page of what one check says on a commit: what the repository's readers may see of it, and no more. `read`: the text of a file
 * of that repository, for excerpts; absent: there are none.
 */
export function checkPageOf(
  outcome: Outcome,
  context: ReportContext,
  place: PagePlace & Pick<CheckPage, 'check' | 'pull' | 'commit' | 'fixes'>,
  read?: (path: string) => string | undefined,
): CheckPage {
  const { kind: about, repository, headSha, fleet, audience, nodes = [], decisions, changes } = context
  const { title, conclusion } = checkRunOf(outcome, context)
  const page = {
    kind: 'check',
    ...place,
    ...(place.fixes ? { fixes: place.fixes.slice(0, MAX_FIXES).map(withoutWords) } : {}),
    repository,
    headSha,
    about,
    ...(fleet ? { fleet } : {}),
    conclusion,
    title,
    ...(decisions ? { decisions } : {}),
    commits: commitsOf(context, audience),
  } as const
  const nothing = { hidden: { violations: 0, errors: 0 }, graph: [], left: {} }
  if (outcome === undefined) return { ...page, ...nothing }
  if (outcome instanceof BailiwickError) return { ...page, ...nothing, ...errorOf(outcome, context) }
  const view = viewFor(outcome, audience, repository, nodes)
  const verdict = bounded(view.verdict)
  const impact = listedImpact(view.verdict, repository, text => visible(text))
  const graph = graphOf(nodes, audience)
  const assumed = assumedClusters(view.verdict, audience)
  const { excerpts, left: excerptsLeft } = read ? excerptsOf(view.verdict, repository, read) : NO_EXCERPTS
  return {
    ...page,
    verdict,
    ...(assumed === undefined ? {} : { assumed }),
    hidden: view.hidden,
    ...(impact ? { impact } : {}),
    ...(changes ? { changes } : {}),
    ...(excerpts.length > 0 ? { excerpts } : {}),
    graph: graph.slice(0, MAX.graph),
    left: { ...leftOf({ ...view.verdict, graph }), ...(excerptsLeft > 0 ? { excerpts: excerptsLeft } : {}) },
  }
}

const NO_EXCERPTS = { excerpts: [], left: 0 }
const MAX_FIXES = 300

/** A fix without the words of its findings, which the page has already. */
function withoutWords(fix: Fix): Fix {
  const plain = (one: Finding): Finding => {
    const { typed: _typed, typedFix: _fix, waiver: _waiver, policy: _policy, clusterAnswer: _answer, ...rest } = one
    return { ...rest, message: '', fix: '', via: [], identity: '' }
  }
  return { ...fix, findings: fix.findings.map(plain) }
}

function bounded(verdict: Verdict): Verdict {
  const { tenants, notSeen, notReached, errors } = verdict
  return {
    ...verdict,
    tenants: tenants.slice(0, MAX.tenants),
    violations: newFirst(verdict.violations).slice(0, MAX.violations),
    warnings: newFirst(verdict.warnings).slice(0, MAX.warnings),
    errors: newFirst(errors).slice(0, MAX.errors),
    notSeen: notSeen.slice(0, MAX.notSeen),
    notReached: notReached.slice(0, MAX.notReached),
  }
}

/** What blocks is never what is left out. */
function newFirst<T extends { readonly state: string }>(list: readonly T[]): T[] {
  return [...list.filter(item => item.state === 'new'), ...list.filter(item => item.state !== 'new')]
}

function leftOf(lists: { readonly [K in keyof typeof MAX]: readonly unknown[] }): Record<string, number> {
  const left = Object.entries(MAX).map(([name, most]) => [name, lists[name as keyof typeof MAX].length - most] as const)
  return Object.fromEntries(left.filter(([, number]) => number > 0))
}

/** As in the check run: without a verdict, names of other tenants are not known. */
function errorOf(error: BailiwickError, { audience, repository }: ReportContext): { readonly error: PageError } {
  const { code, message, fix = '', typed, typedFix, origin } = error
  const isOpen = (audience === undefined || origin?.repository === repository) && isOpenError(error, repository)
  if (!isOpen) return { error: { code, message: CLOSED_ERROR, fix: '' } }
  return {
    error: {
      code,
      ...sayingOf(typed ?? message, typedFix ?? fix),
      ...(origin ? { origin } : {}),
    },
  }
}

function commitsOf(context: ReportContext, audience: readonly string[] | undefined): Record<string, string> {
  const { nodes = [], fleet, repository, headSha } = context
  const isShown = ({ tenant, narrower }: EvaluatedNode) =>
    !narrower && (audience === undefined || (tenant !== null && audience.includes(tenant)))
  const read = nodes.filter(isShown).map(({ source }) => [source.url, source.commit] as const)
  // the head comes last: it is what the branch's commit gives way to
  const own = fleet ? [[fleet.repository, fleet.commit] as const] : []
  return Object.fromEntries([...read.slice(0, 3_000), ...own, [repository, headSha]].filter(([url]) => url !== ''))
}

/** A fleet as it was evaluated on the branch that its clusters follow. */
interface EvaluatedFleet {
  readonly repository: string
  readonly branch: string
  readonly commit: string
  readonly evaluation: Evaluation
  readonly audit: readonly ClusterAudit[]
  readonly policies?: readonly CoveredPolicy[]
  readonly access: AccessOverview
  readonly trail?: FleetPage['trail']
}

const MAX_FLEET_PAGE = {
  ...{ tenants: 3_000, sources: 3_000, notSeen: 1_000, graph: 3_000, findings: 3_000 },
  ...{ audit: 2_000, policies: 1_000 },
}
/** Rules, and exceptions, of each policy. */
const MAX_LISTED = 100
/** Longer reasons are cut. */
const MAX_WHY = 500
/** Maximum characters in the rows of one list: names can have any length. */
const MAX_TEXT = 4 * 1024 * 1024

/** The page of a fleet, in steps of a few milliseconds. It names every tenant: it is for readers of the fleet's own repository only. */
export function* fleetPageOf(fleet: EvaluatedFleet, place: PagePlace): Generator<void, FleetPage> {
  const { repository, branch, commit, evaluation, audit, access, trail } = fleet
  const { verdict, nodes } = evaluation
  const assumed = assumedClusters(verdict)
  const { kept, left } = yield* listsOf(fleet)
  const namespaces = yield* fitting(access.namespaces, access.namespaces.length)
  yield
  const violations = countFindings(verdict.violations.filter(isNew))
  yield
  return {
    kind: 'fleet',
    ...place,
    repository,
    branch,
    commit,
    result: verdict.result,
    counts: {
      nodes: nodes.length,
      objects: nodes.reduce((sum, node) => sum + node.objects.length, 0),
      violations,
      errors: groupFailures(verdict.errors.filter(isNew)).length,
    },
    ...(assumed === undefined ? {} : { assumed }),
    clusters: verdict.clusters.map(({ name, path }) => ({
      name,
      path,
      nodes: nodes.filter(({ cluster }) => cluster === name).length,
    })),
    ...kept,
    audit: audit.map(one => ({ ...one, items: one.items.filter(item => kept.audit.has(item)) })),
    access: { namespaces, left: access.left + access.namespaces.length - namespaces.length },
    ...(trail ? { trail } : {}),
    commits: Object.fromEntries([
      ...kept.sources.map(({ url, commit }) => [url, commit] as const),
      [repository, commit],
    ]),
    left,
  }
}

/** The lists of the page as far as it holds them, and how many rows of each it does not hold. */
function* listsOf({ evaluation, audit, policies = [] }: EvaluatedFleet) {
  const { verdict, nodes } = evaluation
  const lists = {
    tenants: verdict.tenants,
    sources: sourcesOf(nodes),
    notSeen: verdict.notSeen,
    findings: yield* fleetFindings(verdict),
    graph: yield* fleetGraphOf(nodes, verdict),
    audit: weakFirst(audit.flatMap(one => one.items)),
    policies,
  }
  const findings = new Set(yield* fitting(openFirst(lists.findings), MAX_FLEET_PAGE.findings))
  const kept = {
    tenants: yield* fitting(lists.tenants, MAX_FLEET_PAGE.tenants),
    sources: yield* fitting(lists.sources, MAX_FLEET_PAGE.sources),
    notSeen: yield* fitting(lists.notSeen, MAX_FLEET_PAGE.notSeen),
    findings: lists.findings.filter(one => findings.has(one)),
    graph: yield* fitting(lists.graph, MAX_FLEET_PAGE.graph),
    audit: new Set(yield* fitting(lists.audit, MAX_FLEET_PAGE.audit)),
    policies: yield* fitting(lists.policies.map(shortPolicy), MAX_FLEET_PAGE.policies),
  }
  const sizeOf = (list: readonly unknown[] | ReadonlySet<unknown>) => ('size' in list ? list.size : list.length)
  const left = Object.keys(MAX_FLEET_PAGE).map(name => {
    const key = name as keyof typeof MAX_FLEET_PAGE
    return [name, lists[key].length - sizeOf(kept[key])] as const
  })
  return { kept, left: Object.fromEntries(left.filter(([, number]) => number > 0)) }
}

/** The first rows of a list that are few and short enough for the page; some rows in each step. */
function* fitting<T>(rows: readonly T[], most: number): Generator<void, readonly T[]> {
  let size = 0
  for (const [at, row] of rows.slice(0, most).entries()) {
    size += JSON.stringify(row).length
    if (size > MAX_TEXT) return rows.slice(0, at)
    if (at % 50 === 49) yield
  }
  return rows.slice(0, most)
}

function shortPolicy(policy: CoveredPolicy): StoredPolicy {
  const { rules, exceptions } = policy
  const [moreRules, moreExceptions] = [rules.length - MAX_LISTED, exceptions.length - MAX_LISTED]
  return {
    ...policy,
    rules: rules.slice(0, MAX_LISTED).map(rule => ({ ...rule, why: short(rule.why) })),
    exceptions: exceptions.slice(0, MAX_LISTED),
    ...(moreRules > 0 ? { moreRules } : {}),
    ...(moreExceptions > 0 ? { moreExceptions } : {}),
  }
}

const short = (text: string) => (text.length > MAX_WHY ? `${text.slice(0, MAX_WHY)}…` : text)

/** If there are too many, what passes is left out before what is weak. */
function weakFirst(items: readonly AuditItem[]): readonly AuditItem[] {
  const isOk = ({ state }: AuditItem) => state === 'ok'
  return [...items.filter(item => !isOk(item)), ...items.filter(isOk)]
}

/** If there are too many, what is accepted, waived or a warning is left out before an open violation. */
function openFirst(findings: readonly ListedFinding[]): readonly ListedFinding[] {
  const isOpen = ({ kind, state }: ListedFinding) => kind !== 'warning' && state === 'open'
  return [...findings.filter(isOpen), ...findings.filter(one => !isOpen(one))]
}

function sourcesOf(nodes: readonly EvaluatedNode[]): SeenSource[] {
  const seen = nodes.filter(({ source, narrower }) => source.opaque === null && source.url !== '' && !narrower)
  const groups = Map.groupBy(seen, ({ source }) => JSON.stringify([source.url, source.commit]))
  return [...groups.values()]
    .map(group => ({ ...pick(group), used: group.length }))
    .sort((a, b) => b.used - a.used || (a.url < b.url ? -1 : 1))
}

function pick(group: readonly EvaluatedNode[]): Pick<SeenSource, 'id' | 'url' | 'commit'> {
  const { id = '', url = '', commit = '' } = group[0]?.source ?? {}
  return { id, url, commit }
}
