import { type ContextValue, goText, isList, known, RuleError } from './jmespath/values.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import { matchesText } from './match-value.ts'

type Member = (key: ContextValue, value: ContextValue) => boolean

/** Undefined: the value's type does not support lookup, so no operator is met. */
type Found = boolean | undefined

/** Operators that look up a key, or each item of it, in a value; by lower-case name. */
export const MEMBERSHIP: Readonly<Record<string, Member>> = {
  in: (key, value) =>
    asked(
      key,
      one => isIn(one, value),
      all => listIn(all, value, false),
    ),
  notin: (key, value) =>
    asked(
      key,
      one => negated(isIn(one, value)),
      all => listIn(all, value, true),
    ),
  anyin: (key, value) =>
    asked(
      key,
      one => keyIn(one, value),
      all => anyOf(all, value),
    ),
  anynotin: (key, value) =>
    asked(
      key,
      one => negated(keyIn(one, value)),
      all => anyNotOf(all, value),
    ),
  allin: (key, value) =>
    asked(
      key,
      one => keyIn(one, value),
      all => allOf(all, value),
    ),
  allnotin: (key, value) =>
    asked(
      key,
      one => negated(keyIn(one, value)),
      all => noneOf(all, value),
    ),
}

const negated = (found: Found): Found => (found === undefined ? undefined : !found)

function asked(
  key: ContextValue,
  ofOne: (key: string) => Found,
  ofAll: (keys: readonly ContextValue[]) => Found,
): boolean {
  const plain = known(key)
  if (isList(plain)) return ofAll(plain) ?? false
  const isScalar = typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean'
  return isScalar && (ofOne(goText(plain)) ?? false)
}

const isAlike = (a: string, b: string) => matchesWildcard(a, b) || matchesWildcard(b, a)
const RANGE = /^[-|+]?\d+(?:\.\d+)?[A-Za-z]*-[-|+]?\d+(?:\.\d+)?[A-Za-z]*$/
const isRange = (text: string) => RANGE.test(text)

function isIn(key: string, value: ContextValue): Found {
  if (isList(value)) return value.some(one => isAlike(goText(one), key))
  if (typeof value !== 'string') return undefined
  return matchesWildcard(value, key) || textsIn(value)?.includes(key)
}

function keyIn(key: string, value: ContextValue): Found {
  if (isList(value)) return value.some(one => isAlike(goText(one), key))
  if (typeof value !== 'string') return undefined
  if (matchesWildcard(value, key)) return true
  if (isRange(value)) return matchesText(value, key)
  const texts = isJson(value) ? textsIn(value) : [value]
  return texts?.includes(key)
}

/** `In` and `NotIn` for a list: compares its texts exactly. */
function listIn(keys: readonly ContextValue[], value: ContextValue, isNot: boolean): Found {
  const texts = keys.map(key => {
    const text = known(key)
    if (typeof text !== 'string') throw new RuleError('In and NotIn compare strings only')
    return text
  })
  if (typeof value === 'string' && texts.length === 1 && texts[0] === value) return true
  const all = isList(value) ? stringsOf(value) : typeof value === 'string' ? textsIn(value) : undefined
  if (!all) return undefined
  const set = new Set(all)
  return texts.every(text => set.has(text)) !== isNot
}

function stringsOf(list: readonly ContextValue[]): readonly string[] | undefined {
  const texts = list.map(known)
  return texts.every(text => typeof text === 'string') ? (texts as string[]) : undefined
}

/** The texts to look in: items of a list, of JSON, or the value itself. `range`: the value is a range. */
function offered(value: ContextValue, scalars: boolean): readonly string[] | 'range' | undefined {
  if (isList(value)) return value.map(goText)
  if (typeof value === 'string') return isRange(value) ? 'range' : isJson(value) ? textsIn(value) : [value]
  return scalars && value !== null && typeof value !== 'object' ? [goText(value)] : undefined
}

const isItself = (keys: readonly string[], value: ContextValue) => keys.length === 1 && keys[0] === value

function anyOf(list: readonly ContextValue[], value: ContextValue): Found {
  const keys = list.map(goText)
  if (isItself(keys, value)) return true
  const texts = offered(value, true)
  if (texts === 'range') return keys.some(key => matchesText(value as string, key))
  return texts && keys.some(key => texts.some(text => isAlike(key, text)))
}

function anyNotOf(list: readonly ContextValue[], value: ContextValue): Found {
  const keys = list.map(goText)
  if (isItself(keys, value)) return false
  const texts = offered(value, true)
  if (texts === 'range') return keys.some(key => matchesText((value as string).replace('-', '!-'), key))
  return texts && keys.some(key => !texts.some(text => isAlike(key, text)))
}

function allOf(list: readonly ContextValue[], value: ContextValue): Found {
  const keys = list.map(goText)
  if (isItself(keys, value)) return true
  const texts = offered(value, false)
  if (texts === 'range') return keys.every(key => matchesText(value as string, key))
  return texts && keys.every(key => texts.some(text => isAlike(key, text)))
}

function noneOf(list: readonly ContextValue[], value: ContextValue): Found {
  const keys = list.map(goText)
  if (isItself(keys, value)) return false
  const texts = offered(value, false)
  if (texts === 'range') return !keys.some(key => matchesText(value as string, key))
  return texts && !keys.some(key => texts.some(text => isAlike(key, text)))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A list of texts written as JSON. */
function textsIn(text: string): readonly string[] | undefined {
  try {
    const read: unknown = JSON.parse(text)
    if (read === null) return []
    if (!Array.isArray(read)) return undefined
    const texts = read.map(one => one ?? '')
    return texts.every(one => typeof one === 'string') ? texts : undefined
  } catch {
    return undefined
  }
}
