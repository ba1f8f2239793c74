import { BailiwickError } from '../errors.ts'
import { EvaluateSession } from '../evaluate/incremental/evaluate-session.ts'
import {
  type BuiltSides,
  buildSides,
  type ComparedSets,
  evaluateSides,
  type ReadRevisionSet,
} from '../evaluate/incremental/evaluate-sides.ts'
import { undecided } from '../evaluate/verdict/undecided.ts'
import { FleetSession } from '../fleet/incremental/fleet-session.ts'
import type { SourceRef } from '../fleet/model/source-ref.ts'
import { type Demand, NO_CIRCUMSTANCES } from '../gate/circumstances.ts'
import { decide } from '../gate/decide.ts'
import type { Outcome } from '../gate/outcome.ts'
import type { Tree } from '../git/tree.ts'
import { combinedOutcome, type FleetStatement } from '../report/combined-outcome.ts'
import { withPresentNames } from '../report/present-names.ts'
import type { Evaluation } from '../rules/model/finding.ts'
import type { TrailContent, TrailEvaluation, TrailInputs, TrailPeople, TrailSide } from '../trail/trail-inputs.ts'
import { verdictHash } from './verdict-hash.ts'

/** A verdict that was made again. */
export interface ReplayedVerdict {
  /** Conclusion of the check run. */
  readonly result: 'success' | 'failure'
  /** Hash of the verdict. */
  readonly verdict: string
  /** Hash of the verdict of each fleet. */
  readonly fleets: readonly string[]
  readonly outcome: Outcome
}

/**
 * Makes a verdict again from what its entry lists, by the same code that made it. `treeOf`: the tree of a content, which has
 * the id that is listed. What GitHub said and what people had decided is taken from the entry.
 */
export function replayVerdict(inputs: TrailInputs, treeOf: (content: TrailContent) => Tree): ReplayedVerdict {
  const [first, ...more] = inputs.fleets.map(fleet => replayed(fleet, treeOf))
  if (!first) throw new BailiwickError('replay', 'the entry lists nothing that was evaluated')
  const { outcome } = combinedOutcome([first, ...more], inputs.repository, inputs.kind)
  return {
    result: decide(outcome, circumstancesOf(inputs.people)).conclusion,
    verdict: verdictHash(outcome),
    fleets: [first, ...more].map(({ evaluation }) => verdictHash(evaluation.verdict)),
    outcome,
  }
}

function replayed(fleet: TrailEvaluation, treeOf: (content: TrailContent) => Tree): FleetStatement {
  const names = new Map(fleet.names.map(({ was, now }) => [was, now]))
  const url = contentAt(fleet, fleet.head.fleet).repository
  const evaluation = withPresentNames(evaluated(fleet, treeOf), names)
  return { fleet: names.get(url) ?? url, evaluation, narrower: fleet.narrower }
}

/** A fleet that could not be built as a whole has one error, as it had then. */
function evaluated(fleet: TrailEvaluation, treeOf: (content: TrailContent) => Tree): Evaluation {
  const session = new EvaluateSession()
  session.watch = { running: () => {}, stopped: new Set(fleet.stopped) }
  const sessions = { session, earlier: new FleetSession() }
  try {
    const built = buildSides(sessions, setsOf(fleet, treeOf))
    assertComplete(built)
    return evaluateSides(sessions, built, fleet)
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code === 'replay') throw error
    return undecided({
      code: error.code,
      message: error.message,
      fix: error.fix ?? '',
      ...(error.said === undefined ? {} : { said: error.said }),
      ...(error.saidFix === undefined ? {} : { saidFix: error.saidFix }),
    })
  }
}

/** The worker evaluates once nothing is missing any more: where something is, this is not what it evaluated. */
function assertComplete({ head, base }: BuiltSides): void {
  const [missing] = [...head.wanted, ...(base?.wanted ?? [])]
  const [asked] = [...(head.asked ?? []), ...(base?.asked ?? [])]
  if (missing) throw new BailiwickError('replay', `${missing.url}: the fleet reads it, and the entry does not list it`)
  if (asked)
    throw new BailiwickError('replay', `${asked.url}: the fleet asks about it, and the entry has no fact about it`)
}

function setsOf(fleet: TrailEvaluation, treeOf: (content: TrailContent) => Tree): ComparedSets {
  const side = (one: TrailSide): ReadRevisionSet => {
    const home = contentAt(fleet, one.fleet)
    return {
      fleet: { url: home.repository, branch: one.branch, commit: home.commit, tree: treeOf(home) },
      sources: one.sources.map(number => {
        const source = contentAt(fleet, number)
        return { url: source.repository, ref: refOf(source.ref), commit: source.commit, tree: treeOf(source) }
      }),
      opaque: one.unread.map(({ repository, ref, reason }) => ({ url: repository, ref: refOf(ref), reason })),
      facts: one.facts.map(({ repository, ...fact }) => ({ url: repository, ...fact })),
      ...{ disabledRules: one.disabledRules, registries: one.registries },
    }
  }
  return {
    head: side(fleet.head),
    ...(fleet.base ? { base: side(fleet.base) } : {}),
    earlier: {
      states: fleet.earlier.map(state => ({ commit: state.commit, tree: treeOf(state) })),
      isAll: fleet.earlierIsAll,
    },
    ...(fleet.changed === undefined ? {} : { changed: fleet.changed }),
  }
}

function contentAt({ contents }: TrailEvaluation, number: number): TrailContent {
  const content = contents[number]
  if (content) return content
  throw new BailiwickError('replay', `the entry lists no content ${number}`)
}

/** What a source follows, as the entry spells it. */
function refOf(text: string): SourceRef {
  const ref = parsed(text)
  if (typeof ref === 'object' && ref !== null && !Array.isArray(ref)) return ref
  throw new BailiwickError('replay', `${JSON.stringify(text)} is not what a source follows`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const circumstancesOf = ({ hold, override, missing }: TrailPeople) => ({
  ...NO_CIRCUMSTANCES,
  ...(hold === undefined ? {} : { hold: { by: hold } }),
  ...(override === undefined ? {} : { override: { by: override, reason: '' } }),
  demands: missing.map((rule): Demand => ({ rule, message: '', fix: '' })),
})
