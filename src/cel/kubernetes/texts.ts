import { CelBudgetError, CelError } from '../cel-error.ts'
import type { CountSteps, FunctionTable } from '../function-library.ts'
import { type CelValue, isList } from '../values.ts'
import { findMatches } from './find-matches.ts'
import { formatText } from './format-text.ts'

/** How long a formatted text may be. */
const MAX_FORMATTED = 1_000_000

/** Functions of texts that only Kubernetes has: regular expressions, JSON pointers, and `format` of cel-go's ext.Strings. */
export const TEXTS: FunctionTable = {
  functions: {
    'jsonpatch.escapeKey': ([text]) =>
      typeof text === 'string' ? text.replaceAll('~', '~0').replaceAll('/', '~1') : undefined,
  },
  methods: {
    // these only add the API server's cost (pkg/cel/library/cost.go, cel-go interpreter/runtimecost.go); the standard functions compute the result
    contains: ([text, part], spend) => costing(text, part, 10, spend),
    matches: ([text, pattern], spend) => costing(text, pattern, 4, spend),
    // the API server loads an older cel-go string library, which lacks `reverse`
    reverse: ([text]) => {
      if (typeof text === 'string') throw new CelError('no such overload')
      return undefined
    },
    find: ([text, pattern], spend) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return undefined
      return findMatches(pattern, text, 1, spend)[0] ?? ''
    },
    findAll: ([text, pattern, limit = -1n], spend) => {
      if (typeof text !== 'string' || typeof pattern !== 'string' || typeof limit !== 'bigint') return undefined
      return findMatches(pattern, text, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit), spend)
    },
    format: ([text, args], spend) => {
      if (typeof text !== 'string' || args === undefined || !isList(args)) return undefined
      return formatted(text, args, spend)
    },
  },
}

/** Adds the cost of a search: a tenth of the text's length times a fraction (1/`part`) of the pattern's length. */
function costing(text: CelValue | undefined, other: CelValue | undefined, part: number, spend: CountSteps): undefined {
  if (typeof text === 'string' && typeof other === 'string') spend(((text.length + 1) / 10) * (other.length / part))
  return undefined
}

function formatted(text: string, args: readonly CelValue[], spend: CountSteps): string {
  const made = formatText(text, args)
  if (made.length > MAX_FORMATTED) throw new CelBudgetError(`a text grows beyond ${MAX_FORMATTED} characters`)
  spend(made.length / 10)
  return made
}
