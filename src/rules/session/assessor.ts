import type { Fleet, FleetNode } from '../../fleet/fleet.ts'
import { sameDeep } from '../../fleet/same-deep.ts'
import { sameButObjects } from '../../fleet/same-node.ts'
import { type Assessment, assessmentOf } from '../assess.ts'
import type { Assessed } from '../assess-node.ts'
import { type Part, partsOf } from '../assessed-part.ts'
import { rules } from '../registry.ts'
import type { RuleContext } from '../rule.ts'
import { RuleSet } from '../rule-set.ts'
import { type Asker, forget, RecordedIndex } from './recorded-index.ts'

interface Asked extends Asker {
  readonly about: readonly unknown[]
  result: Assessed
  /** Which assessment had this part last. */
  round: number
}

/** What was said about the parts of a fleet, and what holds for all of them. */
interface Lane {
  readonly parts: Map<string, Asked>
  config: Fleet['config'] | undefined
  disabled: readonly string[] | undefined
  set: RuleSet
}

const newLane = (): Lane => ({ parts: new Map(), config: undefined, disabled: undefined, set: new RuleSet([]) })

/**
 * Assesses states of one fleet one after the other, as `assess` does: rules are only asked again about what is another
 * thing by now, and about what follows from an answer that is another one.
 */
export class Assessor {
  /** How many parts rules were asked about. */
  asked = 0
  readonly #alone = newLane()
  readonly #compared = newLane()
  #base: RecordedIndex | undefined
  #head: RecordedIndex | undefined
  #round = 0

  assess(fleet: Fleet, before?: Fleet): Assessment {
    if (!before) {
      const index = this.#base ?? new RecordedIndex(fleet)
      this.#base = index
      index.move(fleet)
      return this.#run(this.#alone, fleet, undefined, index, undefined)
    }
    const base = this.#base ?? new RecordedIndex(before)
    const head = this.#head ?? new RecordedIndex(fleet)
    this.#base = base
    this.#head = head
    base.move(before)
    head.move(fleet)
    return this.#run(this.#compared, fleet, before, head, base)
  }

  #run(
    lane: Lane,
    fleet: Fleet,
    before: Fleet | undefined,
    index: RecordedIndex,
    base: RecordedIndex | undefined,
  ): Assessment {
    this.#prepare(lane, fleet)
    const context: RuleContext = { index: index.view, config: fleet.config, ...(base ? { before: base.view } : {}) }
    const round = ++this.#round
    const said: Assessed[] = []
    for (const part of partsOf(lane.set, fleet, before, key => index.has(key))) {
      const known = lane.parts.get(part.id)
      const holds = known && !known.stale && sameAbout(known.about, part.about)
      const asked = holds ? known : this.#ask(part, context, [index, base])
      if (!holds) {
        if (known) forget(known)
        lane.parts.set(part.id, asked)
      }
      asked.round = round
      if (asked.result.findings.length > 0 || asked.result.failures.length > 0) said.push(asked.result)
    }
    for (const [id, asked] of lane.parts) {
      if (asked.round === round) continue
      forget(asked)
      lane.parts.delete(id)
    }
    return assessmentOf(fleet, said)
  }

  /** Everything is asked again where what holds for all of it is another thing. */
  #prepare(lane: Lane, { config, disabledRules = [] }: Fleet): void {
    const sameConfig = lane.config !== undefined && sameDeep(lane.config, config)
    if (sameConfig && sameDeep(lane.disabled, disabledRules)) return
    for (const asked of lane.parts.values()) forget(asked)
    lane.parts.clear()
    lane.config = config
    lane.disabled = disabledRules
    lane.set = new RuleSet(rules, disabledRules)
  }

  #ask(part: Part, context: RuleContext, indexes: readonly (RecordedIndex | undefined)[]): Asked {
    this.asked++
    const asked: Asked = { about: part.about, questions: new Set(), stale: false, result: NOTHING, round: 0 }
    for (const index of indexes) if (index) index.asker = asked
    try {
      asked.result = part.assess(context)
    } finally {
      for (const index of indexes) if (index) index.asker = undefined
    }
    return asked
  }
}

const NOTHING: Assessed = { findings: [], failures: [] }

function sameAbout(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index] || sameRendered(one, b[index]))
}

/** Nodes are the same thing for rules where only the commit of their source is another. */
function sameRendered(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || !('objects' in a) || !('objects' in b)) return false
  return a.objects === b.objects && sameButObjects(a as FleetNode, b as FleetNode)
}
