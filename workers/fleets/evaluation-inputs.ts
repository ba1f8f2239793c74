import { refKey } from '../../src/fleet/model/ref.ts'
import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import { verdictHash } from '../../src/replay/verdict-hash.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import type { TrailContent, TrailEvaluation, TrailSide } from '../../src/trail/trail-inputs.ts'
import type { CombinationSnapshot, EvaluateRequest } from '../threads/protocol.ts'

/** An evaluation as it was asked and answered. */
interface AnsweredQuestion {
  readonly question: EvaluateRequest
  /** With the present names of repositories. */
  readonly evaluation: Evaluation
  readonly stopped: readonly string[]
  readonly names: ReadonlyMap<string, string>
  readonly narrower: readonly string[]
}

/** What an evaluation was made from, as the trail keeps it: contents by their git tree, facts as GitHub gave them. */
export function evaluationInputs(asked: AnsweredQuestion): TrailEvaluation {
  const { question, evaluation, stopped, names, narrower } = asked
  const contents = new Contents()
  const head = contents.side(question.head)
  const base = question.base && contents.side(question.base)
  const { url, branch } = (question.base ?? question.head).fleet
  const { states = [], isAll = false } = question.earlier ?? {}
  return {
    verdict: verdictHash(evaluation.verdict),
    today: question.today,
    ...(question.changed === undefined ? {} : { changed: question.changed }),
    contents: contents.all,
    head,
    ...(base ? { base } : {}),
    earlier: states.map(state => contentOf({ url, ref: { branch }, ...state })),
    earlierIsAll: isAll,
    stopped,
    names: [...names].map(([was, now]) => ({ was, now })),
    narrower,
  }
}

interface ReadContent {
  readonly url: string
  readonly ref: SourceRef
  readonly commit: string
  readonly tree: TreeSnapshot
}

const contentOf = ({ url, ref, commit, tree }: ReadContent): TrailContent => ({
  ...{ repository: url, ref: refKey(ref), commit, tree: tree.id },
})

/** Each content once: both sides of a comparison share most of them. */
class Contents {
  readonly all: TrailContent[] = []
  readonly #numbers = new Map<string, number>()

  side({ fleet, sources, opaque, facts, disabledRules, registries }: CombinationSnapshot): TrailSide {
    const { url, branch, commit, tree } = fleet
    return {
      fleet: this.#number({ url, ref: { branch }, commit, tree }),
      branch,
      sources: sources.map(source => this.#number(source)),
      unread: opaque.map(({ url: repository, ref, reason }) => ({ repository, ref: refKey(ref), reason })),
      facts: facts.map(({ url: repository, public: isPublic, people }) => ({
        ...{ repository, public: isPublic },
        ...(people === undefined ? {} : { people }),
      })),
      ...{ disabledRules, registries },
    }
  }

  #number(read: ReadContent): number {
    const content = contentOf(read)
    const key = JSON.stringify(content)
    const number = this.#numbers.get(key) ?? this.all.push(content) - 1
    this.#numbers.set(key, number)
    return number
  }
}
