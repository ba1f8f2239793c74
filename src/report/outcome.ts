import { firstNames } from '../base/name-list.ts'
import { FLEET_FILE } from '../fleet/model/fleet-config.ts'
import type { Visibility } from '../fleet/model/source-access.ts'
import type { EvaluatedNode, Evaluation, Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import type { ChangePrunes } from '../verdict/change-prunes.ts'
import type { HumanDecisions } from '../verdict/decide.ts'
import { type Changes, mergeChanges, sumCounts } from '../verdict/diff/changes.ts'
import type { Fix } from '../verdict/fixes.ts'
import { mergeVerdicts, readsFrom, scopeVerdict } from '../verdict/verdict-views.ts'
import { findingThrough, ownWords } from './text/audience.ts'
import { isOfFlux, PrivateWords, through } from './text/private-words.ts'

export type { Outcome } from '../verdict/decide.ts'

/** Of which repository a page is, and when it was made. */
export interface PagePlace {
  readonly owner: string
  readonly repo: string
  /** GitHub's id of the repository; absent where it was unknown. A name can change hands, an id cannot. */
  readonly repositoryId?: number
  /** Who could see the repository when it was made: where more can now, it is not shown. Absent: as of a private one. */
  readonly visibility?: Visibility
  /** ISO 8601. */
  readonly at: string
}

/** Where it is reported, and about what. */
export interface ReportContext {
  readonly kind: 'pull-request' | 'branch' | 'merge-group'
  /** Normalized address of the repository that it is reported on. */
  readonly repository: string
  /** The commit of the check run. */
  readonly headSha: string
  /** The fleet's address and the commit of it that was evaluated; absent where no fleet was read. */
  readonly fleet?: { readonly repository: string; readonly commit: string }
  /** The repository belongs to these tenants: nothing of others is shown there. Absent: the fleet repository. */
  readonly audience?: readonly string[]
  /** What was evaluated: by it the words of others are known that an audience is not shown. */
  readonly nodes?: readonly EvaluatedNode[]
  /** Files that the pull request changes: what stems from an unchanged file is annotated where a changed one leads to it. */
  readonly changedPaths?: ReadonlySet<string>
  /** There are certain fixes, and a commit of ours may be put onto the head. */
  readonly fixable?: boolean
  /** Certain edits of files as the head has them; absent: none. */
  readonly fixes?: readonly Fix[]
  /** What decides besides the verdict; absent: nothing. */
  readonly decisions?: HumanDecisions
  /** What a pull request does to what the clusters get, as its audience may see it; absent: not compared. */
  readonly changes?: Changes
  /** What a worker would hold back after the merge, because it deletes much at once; absent: nothing. */
  readonly prunes?: ChangePrunes
  /** Address of the details page. */
  readonly page?: string
}

/** The outcome of a change for one fleet. */
export interface FleetStatement {
  /** Normalized address of the fleet. */
  readonly fleet: string
  readonly evaluation: Evaluation
  /** What the change does to what its clusters get; absent without a base. */
  readonly changes?: Changes | undefined
  /** Sources of it that fewer people can see than the repository of the change. */
  readonly narrower: readonly string[]
}

/** What is published on a repository, and to whom. */
type CombinedOutcome = Pick<ReportContext, 'audience' | 'changes'> & {
  readonly outcome: Verdict
  readonly nodes: NonNullable<ReportContext['nodes']>
}

/**
 * Combines the evaluations of fleets into the outcome for the repository at `url`. A fleet repository sees everything; a
 * tenant's sees its own nodes and what the change newly breaks, with the names of its own tenants only.
 */
export function combinedOutcome(
  statements: readonly [FleetStatement, ...FleetStatement[]],
  url: string,
  kind: ReportContext['kind'],
): CombinedOutcome {
  // of designated fleets, or of the repository alone: never by what a tenant's repository holds
  const isFleet = statements.some(({ fleet }) => fleet === url)
  const keepNew = kind !== 'branch'
  const verdictOf = ({ evaluation }: FleetStatement) =>
    isFleet ? evaluation.verdict : scopeVerdict(evaluation, url, { keepNew })
  const [first, ...more] = statements
  const merged = mergeVerdicts([verdictOf(first), ...more.map(verdictOf)])
  const known = mergeChanges(statements.flatMap(({ changes }) => changes ?? []))
  const combined = { verdict: merged, nodes: statements.flatMap(({ evaluation }) => evaluation.nodes) }
  // the one place: whatever is published of an evaluation is made of this
  const narrower = new Set(statements.flatMap(one => one.narrower))
  const { verdict: outcome, nodes, changes } = narrowed({ ...combined, ...(known ? { changes: known } : {}) }, narrower)
  const audience = isFleet ? undefined : tenantsOf(statements, url)
  return {
    outcome,
    nodes,
    ...(audience === undefined ? {} : { audience }),
    ...(changes ? { changes: changesFor(changes, audience, outcome, nodes) } : {}),
  }
}

function tenantsOf(statements: readonly FleetStatement[], url: string): string[] {
  const nodes = statements.flatMap(({ evaluation }) => evaluation.nodes).filter(node => readsFrom(node, url))
  return [...new Set(nodes.map(node => node.tenant ?? ''))].sort()
}

/** What replaces a text whose source fewer people can see. */
const NARROWER = 'The details are in a source that fewer people can see than this repository.'
const FIX = 'Ask a fleet admin: the fleet repository and the source have the details.'
const NOWHERE = { repository: '', file: '', line: 1, column: 1 }

/** What was evaluated, as it may be published. */
interface Published {
  readonly verdict: Verdict
  /** Those whose content fewer people can see are marked `narrower`. */
  readonly nodes: readonly EvaluatedNode[]
  readonly changes?: Changes
}

/**
 * The same without the text of sources that fewer people can see than what is published there: a finding keeps its rule,
 * severity and cluster, so that it counts and blocks as before, and what the sources say is left out. `narrower`: addresses of
 * such sources; with none everything stays as it is.
 */
export function narrowed({ verdict, nodes, changes }: Published, narrower: ReadonlySet<string>): Published {
  if (narrower.size === 0) return { verdict, nodes, ...(changes ? { changes } : {}) }
  const marked = nodes.map(node => (isNarrower(node, narrower) ? { ...node, narrower: true as const } : node))
  const byKey = new Map(marked.map(node => [node.key, node]))
  const words = new PrivateWords(
    verdict,
    verdict.tenants.map(tenant => tenant.name),
    marked,
  )
  const hide = (text: string) => words.hide(text)
  const hides = ({ node, origin, state }: Finding | NodeFailure) => {
    const known = byKey.get(node)
    return narrower.has(origin.repository) || known?.narrower === true || (known === undefined && state === 'fixed')
  }
  const parentOf = (key: string) => byKey.get(byKey.get(key)?.parent ?? '')
  const finding = (one: Finding) => (hides(one) ? withoutText(one) : withoutNames(one, words))
  return {
    verdict: {
      ...verdict,
      summary: '',
      violations: verdict.violations.map(finding),
      warnings: verdict.warnings.map(finding),
      errors: verdict.errors.map(one =>
        hides(one) ? failureWithoutText(one, parentOf(one.node)) : failureOf(one, words),
      ),
      requiredApprovals: through(verdict.requiredApprovals, hide, ['rule', 'source']),
      ...(verdict.changedFiles ? { changedFiles: through(verdict.changedFiles, hide, ['path', 'state']) } : {}),
      notSeen: through(verdict.notSeen, hide, ['what']),
      notReached: through(
        verdict.notReached.filter(({ origin }) => !narrower.has(origin.repository)),
        hide,
        ['origin'],
      ),
    },
    nodes: marked,
    ...(changes ? { changes: changesWithout(changes, narrower, marked) } : {}),
  }
}

/** A source that was not read has no text: a node that follows it is reported as if it were unknown. */
function isNarrower({ source, charts = [] }: EvaluatedNode, narrower: ReadonlySet<string>): boolean {
  const read = [source, ...(source.includes ?? []), ...charts].filter(({ commit }) => commit !== '')
  return read.some(({ url }) => narrower.has(url))
}

function withoutText(finding: Finding): Finding {
  const { edit: _edit, allowed: _allowed, cause: _cause, clusterAnswer: _answer, ...more } = finding
  const { waiver: _waiver, policy: _policy, typed: _typed, typedFix: _typedFix, leads: _leads, ...rest } = more
  return {
    ...rest,
    ...{ identity: '', field: '', origin: NOWHERE, via: [], message: NARROWER, fix: FIX },
    object: { apiVersion: '', kind: 'Object', namespace: '', name: '(not shown)' },
  }
}

/** Its own text, with the names that only narrower sources have left out, and without files of theirs. */
function withoutNames(finding: Finding, words: PrivateWords): Finding {
  const { object, via } = finding
  const shown = findingThrough(finding, words, { written: [object.name, object.namespace] })
  return { ...shown, via: via.filter(step => !isOfFlux(step)) }
}

/** A Kustomization is called what its parent's source calls it. */
function failureWithoutText(
  { typed: _typed, typedFix: _fix, ...failure }: NodeFailure,
  parent: EvaluatedNode | undefined,
): NodeFailure {
  const isNamed = parent !== undefined && !parent.narrower
  return { ...failure, origin: NOWHERE, message: NARROWER, fix: FIX, ...(isNamed ? {} : { node: failure.cluster }) }
}

function failureOf(failure: NodeFailure, words: PrivateWords): NodeFailure {
  // it says what the declaration says, and must be the same whether or not there is such a repository
  if (failure.code === 'source-unreadable') return failure
  return ownWords(failure, message => words.hideIn(message))
}

/** Only of Kustomizations that read nothing narrower on either side; rights follow from whatever any of them renders. */
function changesWithout(changes: Changes, narrower: ReadonlySet<string>, nodes: readonly EvaluatedNode[]): Changes {
  const shown = changes.nodes.filter(({ sources }) => !sources.some(url => narrower.has(url)))
  const isWhole = !nodes.some(node => node.narrower)
  return {
    ...changes,
    nodes: shown,
    rights: isWhole ? changes.rights : [],
    hidden: changes.hidden + changes.nodes.length - shown.length,
  }
}

/**
 * Of what a change does, what the repository of the tenants `audience` may be shown: what its own Kustomizations and accounts
 * get, in words that name nothing of others; Kustomizations of others are counted, never named. Without an audience everything.
 */
export function changesFor(
  changes: Changes,
  audience: readonly string[] | undefined,
  verdict: Verdict,
  nodes: readonly EvaluatedNode[],
): Changes {
  if (audience === undefined) return changes
  const words = new PrivateWords(verdict, audience, nodes)
  const hide = (text: string) => words.hide(text)
  const mine = changes.nodes.filter(node => audience.includes(node.tenant))
  const own = mine.map(({ images, ...node }) => ({
    // another Kustomization may be another tenant's
    ...through(node, hide, OPEN_OF_NODE),
    node: node.node,
    images: through(images, hide, ['objects']),
  }))
  const rights = changes.rights.filter(right => audience.includes(right.tenant))
  return {
    nodes: own,
    rights: through(rights, hide, ['cluster', 'tenant', 'subject', 'verbs', 'resource']),
    tenants: changes.tenants.filter(tenant => audience.includes(tenant.name)),
    clusters: [],
    totals: sumCounts(own.map(node => node.counts)),
    hidden: changes.nodes.length - mine.length + changes.left.nodes,
    left: { ...changes.left, nodes: 0, clusters: 0 },
  }
}

/** What its Kustomizations are and what becomes of its objects is the reader's own. */
const OPEN_OF_NODE = [
  ...['cluster', 'namespace', 'name', 'tenant', 'sources', 'unknown'],
  ...['id', 'change', 'fate', 'from'],
]

/** So many are named. */
const MAX_NAMED = 5

/**
 * One line for the clusters of which nothing in git says where Flux starts, in plain text; undefined without any. `audience`:
 * tenants that may not learn how the folders of the fleet are called.
 */
export function assumedClusters(
  { clusters }: Pick<Verdict, 'clusters'>,
  audience?: readonly string[],
): string | undefined {
  const assumed = clusters.filter(({ how }) => how === 'assumed')
  const [first] = assumed
  if (!first) return undefined
  const isOwn = audience === undefined
  const declare = `under clusters in ${FLEET_FILE}${isOwn ? '' : ' of the fleet'}`
  if (assumed.length === 1) {
    const where = isOwn ? `at ${first.path || './'}` : 'where it was evaluated from'
    return `Cluster ${first.name} is assumed: nothing in git says that Flux starts ${where}. Declare it ${declare}.`
  }
  const list = firstNames(assumed, MAX_NAMED, ({ name, path }) => (isOwn ? `${name} (${path || './'})` : name))
  return `Clusters ${list} are assumed: nothing in git says that Flux starts there. Declare them ${declare}.`
}

/**
 * Plain data with each text that is exactly an earlier address of a repository in its present one: a fleet names what it
 * reads as its manifests do, all others by where it is now.
 */
export function withPresentNames<T>(data: T, names: ReadonlyMap<string, string>): T {
  return names.size === 0 ? data : through(data, text => names.get(text) ?? text)
}
