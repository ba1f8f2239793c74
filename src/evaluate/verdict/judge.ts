import { addressIn } from '../../fleet/model/address-in.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { mayLeadTo } from '../../fleet/model/named-repositories.ts'
import type { Baseline } from '../../rules/model/baseline.ts'
import type { Finding, Judgement, NodeFailure } from '../../rules/model/finding.ts'
import { KIND_NOT_EVALUATED } from '../../rules/namespaces/kind-not-evaluated.ts'
import { UNENCRYPTED_SETTING } from '../../rules/secrets/unencrypted-setting.ts'
import { notSeenOf, remoteFiles } from '../approvals/remote-files.ts'
import { requiredApprovals } from '../approvals/required-approvals.ts'
import { type Assess, type Assessment, assess } from './assess.ts'
import { evaluatedOf } from './evaluated.ts'
import { KnownFailures } from './failure-state.ts'
import { fixedFindings } from './fixed-findings.ts'
import { judgedNodes } from './judged-nodes.ts'
import { KnownHidden } from './known-hidden.ts'
import { nothingEvaluated } from './nothing-evaluated.ts'
import { resultOf } from './result-of.ts'
import { knownOf, knownOfBaseline, withState } from './states.ts'
import { withSummary } from './summary.ts'
import { unknownNodes } from './unknown-nodes.ts'
import { unmatchedSources } from './unmatched-sources.ts'
import { unreadableSources } from './unreadable-sources.ts'
import { unusedWaivers } from './unused-waivers.ts'
import { Waivers } from './waivers.ts'

/** What a fleet is compared with. */
export interface JudgeOptions {
  /** The fleet before the change; without it every finding outside the baseline is new. */
  readonly base?: Fleet
  /** combinationOf the input of the head. */
  readonly combination: string
  /** What the fleet's baseline file accepts: errors always, violations where there is no base to compare with. */
  readonly baseline?: Baseline
  /** The day, `YYYY-MM-DD` in UTC; without it no waiver holds. */
  readonly today?: string
  /** Normalised address of the repository that the change is in, where it is not the fleet: what may lead there and cannot be rendered decides. */
  readonly changed?: string
  /** Why nothing of what was to be evaluated was: errors that no node has. */
  readonly failures?: readonly NodeFailure[]
}

/**
 * The judgement of a combination. Only what is new decides: an error that is new or hides other bytes than before, then a new
 * violation. Pure, deterministic, never throws for what a repository holds.
 */
export function judge(head: Fleet, options: JudgeOptions, ask: Assess = assess): Judgement {
  const before = options.base && ask(options.base)
  const now = ask(head, options.base)
  const known = before ? knownOf(before.findings) : knownOfBaseline(options.baseline ?? new Map())
  const waivers = new Waivers(head.config.waivers, options.today)
  const said = [...now.findings, ...unusedWaivers(head, now.findings, waivers)]
  const stands = before ? new Map([...known, ...knownOf(unusedWaivers(head, before.findings, waivers))]) : known
  const hiddenBefore = new KnownHidden(before?.findings ?? [])
  const { changed } = options
  const leading = changed === undefined ? [] : head.nodes.filter(node => mayLeadTo(node.hides ?? [], changed))
  const leadsTo = new Set(leading.map(node => node.key))
  // a change of which nothing is evaluated does not pass because that was so before
  const isUnfollowed = changed !== undefined && leading.length > 0 && !isFollowed(changed, [head, options.base])
  const findings = said.map(one => {
    const isHiding = isUnfollowed && one.hides !== undefined && leadsTo.has(one.node)
    const hidden = isHiding || (before !== undefined && hidesChange(one, now, before, hiddenBefore))
    return withState(one, stands, waivers, hidden)
  })
  const stood = new KnownFailures(before?.failures ?? [], options.baseline ?? new Map())
  const failures = now.failures.map(one => (leadsTo.has(one.node) ? one : stood.withState(one)))
  const fixed = options.base && before ? fixedFindings(options.base, head, before.findings, findings) : []
  const all = [...findings, ...fixed].sort(inOrder)
  const violations = all.filter(one => one.level === 'violation')
  const unreadable = [
    ...(options.base ? unreadableSources(head, options.base) : []),
    ...unmatchedSources(head, options.base),
  ]
  const errors = [...(options.failures ?? []), ...nothingEvaluated(head), ...failures, ...unreadable].sort(inOrder)
  const verdict = withSummary({
    result: resultOf(violations, errors),
    clusters: head.clusters.map(({ name, path, how }) => ({ name, path, how })),
    tenants: head.tenants,
    violations,
    warnings: all.filter(one => one.level === 'warning' && !isNotEvaluated(one)),
    errors,
    notSeen: [...head.notSeen, ...notSeenOf(remoteFiles(head)), ...unknownNodes(head)],
    notReached: head.notReached,
    notEvaluated: all.filter(one => isNotEvaluated(one) && one.state !== 'fixed'),
    requiredApprovals: options.base ? requiredApprovals(head, options.base) : [],
    evaluated: evaluatedOf(head),
    combination: waivers.combinationWith(options.combination),
  })
  const of = <T extends { readonly node: string }>(items: readonly T[]) => Map.groupBy(items, item => item.node)
  const [found, failed] = [of(violations.filter(one => one.state !== 'fixed')), of(errors)]
  const nodes = judgedNodes(head.nodes, found, failed, options.base?.nodes)
  return { verdict, nodes }
}

/** Whether a node of one of these fleets has content of a repository. */
function isFollowed(url: string, fleets: readonly (Fleet | undefined)[]): boolean {
  return fleets.some(fleet => {
    const address = fleet && addressIn(fleet.config.aliases, url)
    return fleet?.nodes.some(({ source, charts = [] }) =>
      [source, ...(source.includes ?? []), ...charts].some(one => one.url === address),
    )
  })
}

/** Where a fleet gives that rule a severity, it is a violation like any other. */
const isNotEvaluated = ({ rule, level }: Finding) => LISTED.has(rule) && level === 'warning'
const LISTED = new Set([KIND_NOT_EVALUATED, UNENCRYPTED_SETTING])

/**
 * Whether it says less than there may be: of a node of which nothing could be built, where what it reads changed; and of
 * what was left out by a rule, where that hides something else than in the base, or is applied in another way.
 */
function hidesChange(item: Finding, now: Assessment, before: Assessment, stood: KnownHidden): boolean {
  if (item.hides !== undefined) return !stood.has(item)
  const inputs = now.inputs.get(item.node)
  return inputs !== undefined && inputs !== before.inputs.get(item.node)
}

function inOrder(a: Finding | NodeFailure, b: Finding | NodeFailure): number {
  const key = (one: Finding | NodeFailure) => {
    const { file, line, column } = one.origin
    const digits = (value: number) => String(value).padStart(9, '0')
    return [one.cluster, one.node, file, digits(line), digits(column), one.fingerprint, one.state].join('\0')
  }
  const [left, right] = [key(a), key(b)]
  return left < right ? -1 : left > right ? 1 : 0
}
