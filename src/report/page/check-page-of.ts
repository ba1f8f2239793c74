import { BailiwickError } from '../../errors.ts'
import type { Fix } from '../../fix/fixes-of.ts'
import type { Visibility } from '../../fleet/model/visibility.ts'
import { sayingOf } from '../../message/said.ts'
import { visible } from '../../message/visible.ts'
import type { EvaluatedNode, Finding, Verdict } from '../../rules/model/finding.ts'
import { assumedClusters } from '../assumed-clusters.ts'
import { checkRunOf } from '../check-run.ts'
import { CLOSED_ERROR, isOpenError } from '../open-error.ts'
import type { Outcome, ReportContext } from '../outcome.ts'
import { blastRadius, type PolicyImpact } from '../policies/blast-radius.ts'
import { impactLines } from '../policies/impact-lines.ts'
import { impactHeading } from '../policies/impact-section.ts'
import { viewFor } from '../text/audience.ts'
import type { CheckPage, PageError } from './check-page.ts'
import { excerptsOf } from './excerpt.ts'
import { graphOf } from './graph-of.ts'

/** Where a page belongs, and when it was made. */
export interface PagePlace {
  readonly owner: string
  readonly repo: string
  readonly repositoryId?: number
  /** Who could see the repository when it was made: where more can now, it is not shown. Absent: as of a private one. */
  readonly visibility?: Visibility
  readonly at: string
}

/** What a page holds of each list: more than anybody reads, less than what would fill a store. */
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
    ...(decisions ? { circumstances: decisions } : {}),
    commits: commitsOf(context, audience),
  } as const
  const nothing = { hidden: { violations: 0, errors: 0 }, graph: [], left: {} }
  if (outcome === undefined) return { ...page, ...nothing }
  if (outcome instanceof BailiwickError) return { ...page, ...nothing, ...errorOf(outcome, context) }
  const view = viewFor(outcome, audience, repository, nodes)
  const verdict = bounded(view.verdict)
  const impacts = blastRadius(view.verdict)
  const graph = graphOf(nodes, audience)
  const assumed = assumedClusters(view.verdict, audience)
  const { excerpts, left: excerptsLeft } = read ? excerptsOf(view.verdict, repository, read) : NO_EXCERPTS
  return {
    ...page,
    verdict,
    ...(assumed === undefined ? {} : { assumed }),
    hidden: view.hidden,
    ...(impacts.length > 0 ? { impact: impactOf(impacts, repository) } : {}),
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
    const { said: _said, saidFix: _fix, waiver: _waiver, policy: _policy, clusterAnswer: _answer, ...rest } = one
    return { ...rest, message: '', fix: '', via: [], identity: '' }
  }
  return { ...fix, findings: fix.findings.map(plain) }
}

const impactOf = (impacts: readonly PolicyImpact[], here: string) => ({
  heading: impactHeading(impacts),
  ...impactLines(impacts, here, text => visible(text)),
})

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
  const { code, message, fix = '', said, saidFix, origin } = error
  const isOpen = (audience === undefined || origin?.repository === repository) && isOpenError(error, repository)
  if (!isOpen) return { error: { code, message: CLOSED_ERROR, fix: '' } }
  return {
    error: {
      code,
      ...sayingOf(said ?? message, saidFix ?? fix),
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
