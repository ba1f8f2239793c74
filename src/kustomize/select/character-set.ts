import { PatternError, refuseInvalid } from './pattern-error.ts'

/** Whether a character is in a set; a character is one code point. */
export type CharacterSet = (char: string) => boolean

// what Go's regexp/syntax names; all of ASCII
const PERL = new Map([
  ['d', '0-9'],
  ['s', '\\t\\n\\f\\r '],
  ['w', '0-9A-Z_a-z'],
])
const POSIX = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['ascii', '\\0-\\x7f'],
  ['blank', '\\t '],
  ['cntrl', '\\0-\\x1f\\x7f'],
  ['digit', '0-9'],
  ['graph', '!-~'],
  ['lower', 'a-z'],
  ['print', ' -~'],
  ['punct', '!-\\/:-@\\[-`{-~'],
  ['space', '\\t-\\r '],
  ['upper', 'A-Z'],
  ['word', '0-9A-Z_a-z'],
  ['xdigit', '0-9A-Fa-f'],
])
/** Categories of Unicode that have the same name and meaning in every release of Go. */
const CATEGORIES = new Set(
  'L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs Cc Cf Co'.split(' '),
)

/** The characters from `low` to `high`; in any case where `fold` says so. */
export function range(low: string, high: string, fold: boolean): CharacterSet {
  const [from, to] = [low.codePointAt(0)!, high.codePointAt(0)!]
  if (fold) return matcher(`[\\u{${from.toString(16)}}-\\u{${to.toString(16)}}]`, true)
  return char => char.codePointAt(0)! >= from && char.codePointAt(0)! <= to
}

/** `\d` and its like by their letter; undefined for another one. */
export function perlSet(letter: string, fold: boolean): CharacterSet | undefined {
  const set = PERL.get(letter.toLowerCase())
  return set === undefined ? undefined : signed(`[${set}]`, fold, !PERL.has(letter))
}

/** `[:name:]` and `[:^name:]`. Throws for a name that there is not. */
export function posixSet(name: string, fold: boolean): CharacterSet {
  const set = POSIX.get(name.replace(/^\^/, ''))
  return set ? signed(`[${set}]`, fold, name.startsWith('^')) : refuseInvalid('an unknown character class')
}

/** `\p{name}`, or `\P{name}` where `negated`. Throws for one that is not the same in every release of Go. */
export function unicodeSet(name: string, fold: boolean, negated: boolean): CharacterSet {
  const plain = name.replace(/^\^/, '')
  if (!CATEGORIES.has(plain)) throw new PatternError('a Unicode class that is not a general category', false)
  return signed(`\\p{${plain}}`, fold, negated !== name.startsWith('^'))
}

function signed(source: string, fold: boolean, negated: boolean): CharacterSet {
  const accepts = matcher(source, fold)
  return negated ? char => !accepts(char) : accepts
}

// simple case folding is what Go's unicode.SimpleFold does, too
function matcher(source: string, fold: boolean): CharacterSet {
  const pattern = new RegExp(`^${source}$`, fold ? 'iu' : 'u')
  return char => pattern.test(char)
}
