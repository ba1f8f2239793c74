import { CelBudgetError } from './cel-error.ts'

/**
 * Throws CelBudgetError for a text that is longer than what is worked out here and, by its characters, may be what is looked
 * for: the API server has no such limit, so neither yes nor no would be true.
 */
export function refuseLong(text: string, most: number, mayBe = /^/): void {
  if (text.length > most && mayBe.test(text)) throw new CelBudgetError(`a text of more than ${most} characters`)
}
