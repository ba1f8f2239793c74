import { CelError } from '../cel-error.ts'
import type { CountSteps, FunctionTable } from '../function-library.ts'
import { findSubmatches, type Submatch } from '../kubernetes/find-matches.ts'
import { type CelValue, Optional } from '../values.ts'

/** cel-go's ext.Regex, version 1, which Kyverno loads and the API server does not. */
export const REGEX: FunctionTable = {
  functions: {
    'regex.extract': ([text, pattern, ...more], spend) => {
      if (typeof text !== 'string' || typeof pattern !== 'string' || more.length > 0) return undefined
      const [first] = extracted(text, pattern, 1, spend)
      return new Optional(first)
    },
    'regex.extractAll': ([text, pattern, ...more], spend) => {
      if (typeof text !== 'string' || typeof pattern !== 'string' || more.length > 0) return undefined
      return extracted(text, pattern, Number.POSITIVE_INFINITY, spend)
    },
    'regex.replace': (args, spend) => {
      const [text, pattern, to, count = -1n] = args
      if (typeof text !== 'string' || typeof pattern !== 'string' || typeof to !== 'string') return undefined
      if (typeof count !== 'bigint' || args.length > 4) return undefined
      return count === 0n ? text : replaced(text, pattern, to, count < 0n ? undefined : count, spend)
    },
  },
}

/** The group of each match, or the match where there is none; an empty group counts as no match. */
function extracted(text: string, pattern: string, limit: number, spend: CountSteps): CelValue[] {
  const chars = [...text]
  const { groups, matches } = findSubmatches(pattern, chars, limit, spend)
  if (groups > 1) throw new CelError(`regular expression has more than one capturing group: "${pattern}"`)
  return matches.flatMap(match => {
    const found = groupIn(chars, match, groups)
    return groups === 1 && found === '' ? [] : [found]
  })
}

function replaced(text: string, pattern: string, to: string, count: bigint | undefined, spend: CountSteps): string {
  const chars = [...text]
  const limit = count === undefined || count > BigInt(chars.length) ? Number.POSITIVE_INFINITY : Number(count)
  const { groups, matches } = findSubmatches(pattern, chars, limit, spend)
  const parts: string[] = []
  let last = 0
  for (const match of matches) {
    const put = withGroups(to, chars, match, groups)
    spend(1 + put.length / 10)
    parts.push(chars.slice(last, match[0]).join(''), put)
    last = match[1]!
  }
  return parts.join('') + chars.slice(last).join('')
}

/** The replacement of a match: `\\N` is a group, `\\\\` a backslash. */
function withGroups(to: string, chars: readonly string[], match: Submatch, groups: number): string {
  return to.replaceAll(/\\(.?)/gsu, (_, next: string) => {
    if (next === '\\') return next
    if (next === '') throw new CelError(`invalid replacement string: '${to}' \\ not allowed at end`)
    if (!/^[0-9]$/.test(next))
      throw new CelError(`invalid replacement string: '${to}' \\ must be followed by a digit or \\`)
    if (Number(next) > groups)
      throw new CelError(`replacement string references group ${next} but regex has only ${groups} group(s)`)
    return groupIn(chars, match, Number(next))
  })
}

function groupIn(chars: readonly string[], match: Submatch, group: number): string {
  const [from, to] = [match[2 * group]!, match[2 * group + 1]!]
  return from < 0 ? '' : chars.slice(from, to).join('')
}
