import type { Fleet } from '../../fleet/fleet.ts'
import { mayLeadTo } from '../../fleet/named-repositories.ts'
import type { Finding, Judgement, NodeFailure, Verdict } from '../finding.ts'
import { KIND_NOT_EVALUATED } from '../namespaces/kind-not-evaluated.ts'
import { type Assess, type Assessment, assess } from './assess.ts'
import { type Baseline, knownOfBaseline } from './baseline.ts'
import { hashOf } from './fingerprint.ts'
import { fixedFindings } from './fixed-findings.ts'
import { judgedNodes } from './judged-nodes.ts'
import { resultOf } from './result-of.ts'
import { knownOf, withState } from './states.ts'
import { summaryOf } from './summary.ts'
import { unreadableSources } from './unreadable-sources.ts'
import { unusedWaivers } from './unused-waivers.ts'
import { Waivers } from './waivers.ts'

/** What a fleet is compared with. */
export interface JudgeOptions {
  /** The fleet before the change; without it every finding outside the baseline is new. */
  readonly base?: Fleet
  /** combinationOf the input of the head. */
  readonly combination: string
  /** Violations that were there before the rules were. */
  readonly baseline?: Baseline
  /** The day, `YYYY-MM-DD` in UTC; without it no waiver holds. */
  readonly today?: string
  /** Normalised address of the repository that the change is in, where it is not the fleet: what may lead there and cannot be rendered decides. */
  readonly changed?: string
}

/**
 * The judgement of a combination. Only what is new decides: an error that is new or that the change touches, then a new
 * violation. Pure, deterministic, never throws for what a repository holds.
 */
export function judge(head: Fleet, options: JudgeOptions, ask: Assess = assess): Judgement {
  const before = options.base && ask(options.base)
  const now = ask(head, options.base)
  const known = before ? knownOf(before.findings) : knownOfBaseline(options.baseline ?? new Map())
  const waivers = new Waivers(head.config.waivers, options.today)
  const said = [...now.findings, ...unusedWaivers(head, now.findings, waivers)]
  const stands = before ? new Map([...known, ...knownOf(unusedWaivers(head, before.findings, waivers))]) : known
  const findings = said.map(one => {
    const hidden = before !== undefined && hidesChange(one, now, before)
    return withState(one, stands, waivers, hidden)
  })
  const { changed } = options
  const leading = changed === undefined ? [] : head.nodes.filter(node => mayLeadTo(node.hides ?? [], changed))
  const leadsTo = new Set(leading.map(node => node.key))
  const stood = new Set(
    [...(options.base ? noClusters(options.base) : []), ...(before?.failures ?? [])].map(one => one.fingerprint),
  )
  const failures = [...noClusters(head), ...now.failures].map(one => {
    const hidden = before === undefined || hidesChange(one, now, before) || leadsTo.has(one.node)
    return stood.has(one.fingerprint) && !hidden ? { ...one, state: 'standing' as const } : one
  })
  const fixed = options.base && before ? fixedFindings(options.base, head, before.findings, findings) : []
  const all = [...findings, ...fixed].sort(inOrder)
  const violations = all.filter(one => one.level === 'violation')
  const unreadable = options.base ? unreadableSources(head, options.base) : []
  const errors = [...failures, ...unreadable].sort(inOrder)
  const verdict: Verdict = {
    result: resultOf(violations, errors),
    summary: summaryOf(head, violations, errors),
    clusters: head.clusters.map(({ name, path }) => ({ name, path })),
    tenants: head.tenants,
    violations,
    warnings: all.filter(one => one.level === 'warning' && !isNotEvaluated(one)),
    errors,
    notSeen: head.notSeen,
    notReached: head.notReached,
    notEvaluated: all.filter(one => isNotEvaluated(one) && one.state !== 'fixed'),
    combination: waivers.combinationWith(options.combination),
  }
  const of = <T extends { readonly node: string }>(items: readonly T[]) => Map.groupBy(items, item => item.node)
  const [found, failed] = [of(violations.filter(one => one.state !== 'fixed')), of(errors)]
  const nodes = judgedNodes(head.nodes, found, failed, options.base?.nodes)
  return { verdict, nodes }
}

/** Where a fleet gives that rule a severity, it is a violation like any other. */
const isNotEvaluated = ({ rule, level }: Finding) => rule === KIND_NOT_EVALUATED && level === 'warning'

/** A node that cannot be rendered shows nothing of itself: if what it reads changed, the same error may hide anything. */
function hidesChange(item: Finding | NodeFailure, now: Assessment, before: Assessment): boolean {
  const inputs = now.inputs.get(item.node)
  return inputs !== undefined && inputs !== before.inputs.get(item.node)
}

/** A repository without clusters is no fleet: nothing to judge is not a pass. */
function noClusters(fleet: Fleet): NodeFailure[] {
  if (fleet.clusters.length > 0) return []
  const message = 'the fleet repository has no directory clusters/<name>, so there is nothing to judge'
  const origin = { repository: '', file: 'clusters', line: 1, column: 1 }
  const fix = 'Put the manifests of each cluster under clusters/<name>.'
  const where = { cluster: '', tenant: '', node: '' }
  return [
    { code: 'path-not-found', state: 'new', message, fix, origin, ...where, fingerprint: hashOf(['no-clusters']) },
  ]
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
