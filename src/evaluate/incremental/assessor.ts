import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Watch } from '../../fleet/rendering/work.ts'
import type { RuleContext } from '../../rules/model/rule.ts'
import { type Assessment, assessmentOf } from '../verdict/assess.ts'
import { KeptAnswers } from './kept-answers.ts'
import { RecordedIndex } from './recorded-index.ts'

/**
 * Assesses states of one fleet one after the other, as `assess` does: rules are only asked again about what is another
 * thing by now, and about what follows from an answer that is another one.
 */
export class Assessor {
  /** How many parts rules were asked about. */
  asked = 0
  /** Whoever follows what is worked on. */
  watch: Watch | undefined
  readonly #alone = new KeptAnswers()
  readonly #compared = new KeptAnswers()
  #base: RecordedIndex | undefined
  #head: RecordedIndex | undefined

  assess(fleet: Fleet, before?: Fleet): Assessment {
    const base = moved(this.#base, before ?? fleet)
    this.#base = base
    if (!before) return this.#run(this.#alone, fleet, undefined, base, undefined)
    const head = moved(this.#head, fleet)
    this.#head = head
    return this.#run(this.#compared, fleet, before, head, base)
  }

  #run(
    lane: KeptAnswers,
    fleet: Fleet,
    before: Fleet | undefined,
    index: RecordedIndex,
    base: RecordedIndex | undefined,
  ): Assessment {
    const context: RuleContext = { index: index.view, config: fleet.config, ...(base ? { before: base.view } : {}) }
    const indexes = base ? [index, base] : [index]
    const assessed = lane.run(fleet, before, (part, asked) => {
      this.asked++
      this.watch?.running(part.node ?? '')
      for (const one of indexes) one.asker = asked
      try {
        return part.assess(context)
      } finally {
        for (const one of indexes) one.asker = undefined
      }
    })
    return assessmentOf(fleet, assessed)
  }
}

function moved(index: RecordedIndex | undefined, fleet: Fleet): RecordedIndex {
  if (!index) return new RecordedIndex(fleet)
  index.move(fleet)
  return index
}
