import { firstNames } from '../base/name-list.ts'
import { FLEET_FILE } from '../fleet/model/fleet-config.ts'
import type { EvaluatedNode, Evaluation, Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import type { ChangePrunes } from '../verdict/change-prunes.ts'
import type { HumanDecisions } from '../verdict/decide.ts'
import {
  type Changes,
  type FieldChange,
  mergeChanges,
  type NodeChange,
  type RightChange,
  sumCounts,
} from '../verdict/diff/changes.ts'
import type { Fix } from '../verdict/fixes.ts'
import { mergeVerdicts, readsFrom, scopeVerdict } from '../verdict/verdict-views.ts'
import { ownPolicy, ownWaiver, ownWords } from './text/audience.ts'
import { PrivateWords } from './text/private-words.ts'

export type { Outcome } from '../verdict/decide.ts'

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
      requiredApprovals: verdict.requiredApprovals.map(one => ({
        ...one,
        message: words.hide(one.message),
        path: words.hide(one.path),
        ...(one.because === undefined ? {} : { because: words.hide(one.because) }),
      })),
      ...(verdict.changedFiles
        ? {
            changedFiles: verdict.changedFiles.map(one => ({ ...one, by: one.by.map(text => words.hide(text)) })),
          }
        : {}),
      notSeen: verdict.notSeen.map(({ what, source, url, reason }) => ({
        ...(what ? { what } : {}),
        source: words.hide(source),
        url: words.hide(url),
        reason: words.hide(reason),
      })),
      notReached: verdict.notReached.flatMap(({ id, origin, reason }) =>
        narrower.has(origin.repository) ? [] : [{ id: words.hide(id), origin, reason: words.hide(reason) }],
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
  const { waiver: _waiver, policy: _policy, said: _said, saidFix: _saidFix, ...rest } = more
  return {
    ...rest,
    ...{ identity: '', field: '', origin: NOWHERE, via: [], message: NARROWER, fix: FIX },
    object: { apiVersion: '', kind: 'Object', namespace: '', name: '(not shown)' },
  }
}

/** Its own text, with the names that only narrower sources have left out, and without files of theirs. */
function withoutNames(
  { edit, allowed = [], clusterAnswer, waiver, policy, ...finding }: Finding,
  words: PrivateWords,
): Finding {
  const { object } = finding
  const writing = { written: [object.name, object.namespace] }
  const hide = (text: string) => words.hide(text, writing)
  const written = edit && ('set' in edit ? edit.set : 'add' in edit ? edit.add : '')
  return {
    ...ownWords(finding, message => words.hideIn(message, writing)),
    ...(clusterAnswer === undefined ? {} : { clusterAnswer: hide(clusterAnswer) }),
    ...(waiver ? { waiver: ownWaiver(waiver, hide) } : {}),
    ...(policy ? { policy: ownPolicy(policy, text => words.hide(text)) } : {}),
    via: finding.via.filter(({ step }) => step !== 'kustomization' && !step.startsWith('flux-')),
    ...(edit && (written === undefined || hide(written) === written) ? { edit } : {}),
    ...(allowed.length > 0 && allowed.every(value => hide(value) === value) ? { allowed } : {}),
  }
}

/** A Kustomization is called what its parent's source calls it. */
function failureWithoutText(
  { said: _said, saidFix: _fix, ...failure }: NodeFailure,
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
  const own = mine.map(node => ownNode(node, hide))
  return {
    nodes: own,
    rights: changes.rights.filter(right => audience.includes(right.tenant)).map(right => ownRight(right, hide)),
    tenants: changes.tenants.filter(tenant => audience.includes(tenant.name)),
    clusters: [],
    totals: sumCounts(own.map(node => node.counts)),
    hidden: changes.nodes.length - mine.length + changes.left.nodes,
    left: { ...changes.left, nodes: 0, clusters: 0 },
  }
}

function ownNode(node: NodeChange, hide: (text: string) => string): NodeChange {
  const { identity } = node
  return {
    ...node,
    ...(identity ? { identity: { was: hide(identity.was), now: hide(identity.now) } } : {}),
    objects: node.objects.map(object => ({
      ...object,
      // it may be another tenant's
      ...(object.node === undefined ? {} : { node: hide(object.node) }),
      fields: object.fields.map(field => ownField(field, hide)),
    })),
    images: node.images.map(({ was, now, ...image }) => ({ ...image, was: hide(was), now: hide(now) })),
  }
}

function ownField(field: FieldChange, hide: (text: string) => string): FieldChange {
  const { path, was, now, lines } = field
  return {
    ...field,
    path: hide(path),
    ...(was === undefined ? {} : { was: hide(was) }),
    ...(now === undefined ? {} : { now: hide(now) }),
    ...(lines === undefined ? {} : { lines: lines.map(hide) }),
  }
}

function ownRight(right: RightChange, hide: (text: string) => string): RightChange {
  const rights = (list: RightChange['gains']) => list.map(one => ({ ...one, names: one.names.map(hide) }))
  return {
    ...right,
    namespace: hide(right.namespace),
    gains: rights(right.gains),
    loses: rights(right.loses),
    unknown: right.unknown.map(hide),
  }
}

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
  return names.size === 0 ? data : (renamed(data, names) as T)
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return names.get(value) ?? value
  if (Array.isArray(value)) return value.map(item => renamed(item, names))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item, names)]))
}
