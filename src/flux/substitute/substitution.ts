import type { SubstitutionBudget } from './substitution-budget.ts'
import type { Variable, Variables } from './variable.ts'

/** What is substituted in the objects of one Kustomization. */
export interface Substitution {
  readonly variables: Variables
  /** Stands for every other name. */
  readonly rest?: Variable | undefined
  /** Stands for a name that nothing sets and that has no default. */
  readonly unset?: Variable | undefined
  /** Whether a variable that is not set is an error (Flux 2.9 on), and not the empty text. */
  readonly strict: boolean
  readonly budget: SubstitutionBudget
}
