import type { Origin } from '../../origin.ts'
import { refuseOver, YAML_LIMITS } from './yaml-budget.ts'

/** How many values the aliases and merge keys of one file have made. */
export class Expansion {
  private values = 0

  /** Throws `render-limits` for too many. */
  spend(values: number, origin: Origin): void {
    this.values += values
    if (this.values > YAML_LIMITS.expanded) refuseOver('expanded', origin)
  }
}
