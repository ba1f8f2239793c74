import type { BuildBudget } from '../model/build-budget.ts'
import type { ReplacementTarget } from '../model/replacement.ts'
import type { Resource } from '../resource/resource.ts'
import { ID_PARTS, IdPattern } from '../select/id-pattern.ts'
import { selectsNotes } from '../select/select.ts'
import { idsOf } from './resource-ids.ts'

/**
 * Whether a target of a replacement takes an object: labels and annotations fit, no rejection does, and one of its ids
 * matches in every part (api/types/replacement.go, TargetSelectorRegex). A rejection with both a name and labels rejects
 * what fits either. Throws for an expression that cannot be used, whether or not any object gets as far.
 */
export class TargetSelection {
  private readonly target: ReplacementTarget
  private readonly selected: IdPattern
  private readonly rejected: readonly IdPattern[]

  constructor(target: ReplacementTarget, budget: BuildBudget) {
    this.target = target
    this.selected = new IdPattern(target.select, budget)
    this.rejected = target.reject.flatMap(one => {
      const pattern = new IdPattern(one, budget)
      return ID_PARTS.some(part => one[part]) ? [pattern] : []
    })
  }

  takes(resource: Resource): boolean {
    const { select, reject } = this.target
    if (!selectsNotes(select, resource)) return false
    for (const one of reject) {
      if ((one.labelSelector || one.annotationSelector) && selectsNotes(one, resource)) return false
    }
    const ids = idsOf(resource)
    return ids.some(id => this.selected.matches(id)) && !this.rejected.some(one => ids.some(id => one.matches(id)))
  }
}
