import { FleetSession } from '../../fleet/incremental/fleet-session.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { FleetInput } from '../../fleet/model/input.ts'
import type { Watch } from '../../fleet/rendering/work.ts'
import type { Evaluation } from '../../rules/model/finding.ts'
import { type EvaluateOptions, evaluateFleet } from '../verdict/evaluate-fleet.ts'
import { Assessor } from './assessor.ts'

/**
 * Builds and evaluates states of one fleet one after the other: the answers are those of `buildFleet` and `evaluate`, at a cost
 * that follows what changed since the state before.
 */
export class EvaluateSession {
  readonly #fleets = new FleetSession()
  readonly #assessor = new Assessor()

  /** Tells whoever follows it what is worked on. */
  set watch(watch: Watch | undefined) {
    this.#fleets.watch = watch
    this.#assessor.watch = watch
  }

  build(input: FleetInput, onProgress?: Parameters<FleetSession['build']>[1]): Fleet {
    return this.#fleets.build(input, onProgress)
  }

  evaluateFleet(head: Fleet, options: EvaluateOptions): Evaluation {
    return evaluateFleet(head, options, (fleet, before) => this.#assessor.assess(fleet, before))
  }

  /** How much had to be done so far: what was rendered, how often the graph was walked, what rules were asked about. */
  get work(): { readonly rendered: number; readonly walked: number; readonly asked: number } {
    return { ...this.#fleets.work, asked: this.#assessor.asked }
  }
}
