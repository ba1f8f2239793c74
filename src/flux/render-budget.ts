import { BuildBudget } from '../kustomize/build-budget.ts'
import { PackBudget } from './pack-budget.ts'
import { SubstitutionBudget } from './substitute/substitution-budget.ts'

/** What rendering may use up: of one Kustomization, or of all that share it (those of a tenant on a cluster). */
export class RenderBudget {
  readonly pack = new PackBudget()
  readonly build = new BuildBudget()
  readonly substitution = new SubstitutionBudget()
}
