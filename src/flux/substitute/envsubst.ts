import type { Origin } from '../../base/origin.ts'
import type { Made, ValueHolder } from '../../kube/node.ts'
import { applyOperator, isDefault, type Spend } from './operators.ts'
import { MAX_NESTING, type Substitution, TemplateError, type Variable } from './variables.ts'

/** How to replace, and where the template was written. */
interface EnvsubstOptions extends Substitution {
  readonly origin: Origin
}

/** A text with its variables replaced. */
interface Substituted {
  readonly text: string
  /** The variables that were asked, each once, in order. */
  readonly used: readonly Variable[]
  /** Part of the text is only known to the cluster, there the expression still stands: who holds the values, each once. */
  readonly opaque?: readonly ValueHolder[]
  /** What made the text beside plain variables. */
  readonly how?: Made['how']
}

/**
 * Replaces `${name}` and `$$` as Flux's envsubst does (fluxcd/pkg envsubst): values are not looked at again, everything
 * counts in bytes. Throws TemplateError for what Flux refuses and for results that are not text, `render-limits` for more
 * than the budget.
 */
export function envsubst(template: string, options: EnvsubstOptions): Substituted {
  const run = new Run(options)
  const parts = parseTemplate(template).map(part => run.evaluate(part))
  const text = parts.map(part => part.text).join('')
  const opaque = parts.some(part => part.opaque) ? { opaque: [...run.holders.values()] } : {}
  return { text, used: [...run.used], ...opaque, ...(run.how ? { how: run.how } : {}) }
}

interface Result {
  readonly text: string
  readonly opaque: boolean
}

class Run {
  readonly used = new Set<Variable>()
  /** Of every unknown value that was asked for, whether the text shows it or not: a length tells of it, too. */
  readonly holders = new Map<string, ValueHolder>()
  how: Made['how'] | undefined
  private readonly options: EnvsubstOptions

  constructor(options: EnvsubstOptions) {
    this.options = options
  }

  evaluate(part: TemplatePart): Result {
    if (typeof part === 'string') return { text: part, opaque: false }
    this.spend('expressions', 1)
    const result = this.expression(part)
    this.spend('characters', result.text.length)
    return result
  }

  private expression(expression: TemplateExpression): Result {
    const { name, operator, source } = expression
    const args = expression.args.map(arg => this.evaluate(arg))
    const { variables, rest, unset, strict } = this.options
    const isNeeded = strict && !isDefault(operator)
    const variable = variables.get(name) ?? rest ?? (isNeeded ? unset : undefined)
    if (!variable && isNeeded) {
      throw new TemplateError(`the variable ${shown(name)} is not set`, 'flux-missing-variable')
    }
    if (variable) this.used.add(variable)
    if (variable?.hidden === 'opaque') this.hold(variable, name)
    if (variable?.hidden === 'not-text') {
      throw new TemplateError(`the value of ${shown(name)} is not valid UTF-8`, 'flux-unsupported')
    }
    const value = variable?.value ?? ''
    const unasked = isDefault(operator) && value !== ''
    const opaque = variable?.hidden === 'opaque' || (!unasked && args.some(arg => arg.opaque))
    if (opaque) {
      if (variable?.undeclared) this.how = 'unknown'
      return { text: source, opaque }
    }
    if (isDefault(operator) ? !unasked : operator !== '') this.how ??= isDefault(operator) ? 'default' : 'function'
    const texts = args.map(arg => arg.text)
    return { text: applyOperator(operator, value, texts, this.spend), opaque }
  }

  private hold({ holders = [] }: Variable, name: string): void {
    for (const holder of holders) {
      const key = holder.key || name
      this.holders.set(`${holder.kind}/${holder.namespace}/${holder.name}/${key}`, { ...holder, key })
    }
  }

  private readonly spend: Spend = (what, amount) => this.options.budget.spend(what, amount, this.options.origin)
}

/** Cuts long names. */
const shown = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)

/** A piece of a template: text as it stands, or an expression. */
type TemplatePart = string | TemplateExpression

interface TemplateExpression {
  readonly name: string
  /** '' for a plain `${name}`; `length` for `${#name}`; else as it is written. */
  readonly operator: string
  readonly args: readonly TemplatePart[]
  /** The expression as it stands in the template. */
  readonly source: string
}

const BAD = 'bad substitution'
const NAME = /[\p{L}\p{Nd}_]+/uy

/**
 * Reads Flux's own grammar of variables (fluxcd/pkg envsubst, a fork of drone/envsubst): `${name}` with the operators of
 * a shell, `$$` for a dollar sign, nothing for a bare `$name`. Throws TemplateError for what Flux refuses.
 */
function parseTemplate(text: string): TemplatePart[] {
  return new TemplateReader(text).template()
}

class TemplateReader {
  private readonly text: string
  private at = 0
  private depth = 0

  constructor(text: string) {
    this.text = text
  }

  template(): TemplatePart[] {
    if (this.text.includes('\0')) throw new TemplateError('a NUL character in the text')
    const parts: TemplatePart[] = []
    while (this.at < this.text.length) {
      parts.push(this.text.startsWith('${', this.at) ? this.expression() : this.literal('', '$'))
    }
    return parts
  }

  private expression(): TemplateExpression {
    if (++this.depth > MAX_NESTING) throw new TemplateError(`expressions nested deeper than ${MAX_NESTING}`)
    const start = this.at
    this.at += 2
    const [name, operator, args] = this.peek() === '#' ? this.length() : this.operation()
    this.depth--
    return { name, operator, args, source: this.text.slice(start, this.at) }
  }

  private length(): [string, string, TemplatePart[]] {
    this.at++
    const name = this.name(BAD)
    this.close(BAD)
    return [name, 'length', []]
  }

  private operation(): [string, string, TemplatePart[]] {
    const name = this.name('unable to parse variable name')
    switch (this.peek()) {
      case ':':
        return [name, ...this.colon()]
      case '=':
        return [name, this.take(/=/y), this.defaults()]
      case ',':
      case '^':
        return [name, this.closed(this.take(/[,^]{1,2}/y)), []]
      case '/':
        return [name, this.take(/\/[/#%]?/y), this.replacement()]
      case '#':
      case '%':
        return [name, this.take(/##?|%%?/y), this.removal()]
      default:
        return [name, this.closed('', 'missing closing brace'), []]
    }
  }

  private colon(): [string, TemplatePart[]] {
    const operator = this.take(/:[-=?+]?/y)
    if (operator !== ':') return [operator, this.defaults()]
    // Flux steps back by the width of what follows, so behind a colon it reads ASCII only
    if ((this.text.codePointAt(this.at) ?? 0) > 0x7f) throw new TemplateError(BAD)
    const args = [this.argument(':}', '')]
    if (this.take(/:*/y) !== '') args.push(this.argument('}', ''))
    this.close(BAD)
    return [':', args]
  }

  private defaults(): TemplatePart[] {
    const args: TemplatePart[] = []
    while (this.peek() !== '}') args.push(this.argument('}', ''))
    this.at++
    return args
  }

  private removal(): TemplatePart[] {
    const args = [this.argument('}', '')]
    this.close(BAD)
    return args
  }

  private replacement(): TemplatePart[] {
    const args = [this.argument('/', '$/\\')]
    if (this.take(/\/*/y) === '') throw new TemplateError(BAD)
    if (this.peek() !== '}') args.push(this.argument('}', '$/\\'))
    this.close(BAD)
    return args
  }

  private argument(stops: string, escapes: string): TemplatePart {
    if (this.text.startsWith('${', this.at)) return this.expression()
    const before = this.at
    const text = this.literal(stops, escapes)
    if (this.at === before) throw new TemplateError('unable to parse substitution within function')
    return text
  }

  /** Text up to a stop, an expression or the end; of two escapes only the second stays (`$$`, `\/`, `\\`). */
  private literal(stops: string, escapes: string): string {
    const pieces: string[] = []
    let from = this.at
    while (this.at < this.text.length) {
      const here = this.text.charAt(this.at)
      const next = this.text.charAt(this.at + 1)
      if (here === '$' && next === '{') break
      const escaped = here === '$' ? next === '$' : here === '\\' && (next === '/' || next === '\\')
      if (escaped && escapes.includes(here)) {
        pieces.push(this.text.slice(from, this.at))
        from = this.at + 1
        this.at += 2
      } else if (stops.includes(here)) break
      else this.at++
    }
    pieces.push(this.text.slice(from, this.at))
    return pieces.join('')
  }

  private name(problem: string): string {
    const name = this.take(NAME)
    if (name === '') throw new TemplateError(problem)
    return name
  }

  private closed(operator: string, problem = BAD): string {
    this.close(problem)
    return operator
  }

  private close(problem: string): void {
    if (this.peek() !== '}') throw new TemplateError(problem)
    this.at++
  }

  private peek(): string {
    return this.text.charAt(this.at)
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found = ''] = pattern.exec(this.text) ?? []
    this.at += found.length
    return found
  }
}
