/** A state of the automaton of a regular expression. */
export type State =
  | { readonly kind: 'char'; readonly accepts: (char: string) => boolean; readonly next: State }
  | { readonly kind: 'split'; next: readonly State[] }
  | { readonly kind: 'start' | 'finish'; readonly next: State }
  | { readonly kind: 'end' }

/** Builds the part of an automaton that comes before `next`. */
type Build = (next: State) => State

const MAX_STATES = 2_000
const MAX_LENGTH = 1_000

/** The automaton of a pattern, or the name of what in it is not supported. */
export function parsePattern(pattern: string): State | string {
  if (pattern.length > MAX_LENGTH) return `more than ${MAX_LENGTH} characters`
  try {
    return new PatternParser(pattern).parse()({ kind: 'end' })
  } catch (error) {
    if (error instanceof Unsupported) return error.message
    throw error
  }
}

class Unsupported extends Error {}

const DIGIT = /^[0-9]$/
const WORD = /^[0-9A-Za-z_]$/
const SPACE = /^[\t\n\f\r ]$/
const CLASSES = new Map([
  ['d', DIGIT],
  ['w', WORD],
  ['s', SPACE],
])

class PatternParser {
  private readonly chars: readonly string[]
  /** `(?i)` at the start, the only flag that people write. */
  private readonly fold: boolean
  private index = 0
  private states = 0
  private countedRepetitions = 0

  constructor(pattern: string) {
    this.fold = pattern.startsWith('(?i)')
    this.chars = [...(this.fold ? pattern.slice(4) : pattern)]
    if (this.fold && !/^[\0-\x7f]*$/.test(pattern)) throw new Unsupported('(?i) beside letters that are not ASCII')
  }

  parse(): Build {
    const build = this.alternatives()
    if (this.index < this.chars.length) throw new Unsupported('an unbalanced )')
    return build
  }

  private alternatives(): Build {
    const branches = [this.sequence()]
    while (this.take('|')) branches.push(this.sequence())
    return next => (branches.length === 1 ? branches[0]!(next) : this.split(branches.map(branch => branch(next))))
  }

  private sequence(): Build {
    const parts: Build[] = []
    while (this.index < this.chars.length && this.peek() !== '|' && this.peek() !== ')') parts.push(this.repeated())
    return next => parts.reduceRight((rest, part) => part(rest), next)
  }

  private repeated(): Build {
    const before = this.countedRepetitions
    const atom = this.atom()
    const operator = this.peek()
    if (operator === undefined || !'*+?{'.includes(operator)) return atom
    this.index++
    if (operator === '{' && this.countedRepetitions > before) throw new Unsupported('nested counted repetitions')
    const build = this.repetition(atom, operator)
    this.take('?') // lazy or not makes no difference to whether a text matches
    if (this.peek() !== undefined && '*+?{'.includes(this.peek()!)) throw new Unsupported('a repeated repetition')
    return build
  }

  private repetition(atom: Build, operator: string): Build {
    if (operator === '*') return this.star(atom)
    if (operator === '+') return next => atom(this.star(atom)(next))
    if (operator === '?') return next => this.split([atom(next), next])
    return this.counted(atom)
  }

  /** `{n}`, `{n,}` or `{n,m}`; anything else in braces is text for Go, which nobody means. */
  private counted(atom: Build): Build {
    const close = this.chars.indexOf('}', this.index)
    const match = /^([0-9]{1,3})(,)?([0-9]{1,3})?$/.exec(this.chars.slice(this.index, close).join(''))
    if (close < 0 || !match || (!match[2] && match[3])) throw new Unsupported('a brace that counts nothing')
    this.index = close + 1
    this.countedRepetitions++
    const least = Number(match[1])
    const most = match[2] ? (match[3] === undefined ? undefined : Number(match[3])) : least
    if (most !== undefined && most < least) throw new Unsupported('a repetition that counts backwards')
    return next => {
      let state = most === undefined ? this.star(atom)(next) : next
      for (let index = least; index < (most ?? least); index++) state = this.split([atom(state), next])
      for (let index = 0; index < least; index++) {
        this.count()
        state = atom(state)
      }
      return state
    }
  }

  private star(atom: Build): Build {
    return next => {
      const loop: State = { kind: 'split', next: [] }
      loop.next = [atom(loop), next]
      return loop
    }
  }

  private split(next: readonly State[]): State {
    this.count()
    return { kind: 'split', next }
  }

  private atom(): Build {
    const char = this.chars[this.index++]!
    if (char === '(') return this.group()
    if (char === '[') return this.accept(this.set())
    if (char === '.') return this.accept(other => other !== '\n')
    if (char === '^') return next => ({ kind: 'start', next })
    if (char === '$') return next => ({ kind: 'finish', next })
    if (char === '\\') return this.accept(this.escape())
    if ('*+?{'.includes(char)) throw new Unsupported(`a ${char} that repeats nothing`)
    return this.accept(this.folded(other => other === char))
  }

  private group(): Build {
    if (this.take('?') && !this.take(':')) throw new Unsupported('a group with (?')
    const build = this.alternatives()
    if (!this.take(')')) throw new Unsupported('an unbalanced (')
    return build
  }

  private escape(): (char: string) => boolean {
    const char = this.chars[this.index++]
    if (char === undefined) throw new Unsupported('a backslash at its end')
    const known = CLASSES.get(char.toLowerCase())
    if (known) {
      const test = this.folded(other => known.test(other))
      return other => test(other) === CLASSES.has(char)
    }
    if (/[A-Za-z0-9]/.test(char)) throw new Unsupported(`the escape \\${char}`)
    return this.folded(other => other === char)
  }

  /** The same test for a character in any case; two letters beyond ASCII have a case inside of it. */
  private folded(test: (char: string) => boolean): (char: string) => boolean {
    if (!this.fold) return test
    return char => {
      const plain = char === '\u017f' ? 's' : char === '\u212a' ? 'k' : char
      return test(char) || (/^[A-Za-z]$/.test(plain) && (test(plain.toLowerCase()) || test(plain.toUpperCase())))
    }
  }

  private set(): (char: string) => boolean {
    const negated = this.take('^')
    const tests: ((char: string) => boolean)[] = []
    for (let first = true; ; first = false) {
      const char = this.chars[this.index++]
      if (char === undefined) throw new Unsupported('an unbalanced [')
      if (char === ']' && !first) break
      if (char === '[' || (char === ']' && first)) throw new Unsupported('a [ or ] inside [...]')
      if (char === '\\') tests.push(this.escape())
      else tests.push(this.folded(this.range(char)))
    }
    return char => tests.some(test => test(char)) !== negated
  }

  private range(low: string): (char: string) => boolean {
    if (this.peek() !== '-' || this.chars[this.index + 1] === ']') return char => char === low
    this.index++
    const high = this.chars[this.index++]
    if (high === undefined || high === '\\' || high === '[' || high < low) throw new Unsupported('a bad range')
    return char => char.codePointAt(0)! >= low.codePointAt(0)! && char.codePointAt(0)! <= high.codePointAt(0)!
  }

  private accept(accepts: (char: string) => boolean): Build {
    return next => {
      this.count()
      return { kind: 'char', accepts, next }
    }
  }

  private count(): void {
    if (++this.states > MAX_STATES) throw new Unsupported('too many parts')
  }

  private peek(): string | undefined {
    return this.chars[this.index]
  }

  private take(char: string): boolean {
    if (this.peek() !== char) return false
    this.index++
    return true
  }
}
