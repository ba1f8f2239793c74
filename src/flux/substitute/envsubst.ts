import type { Made, ValueHolder } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import { applyOperator, isDefault, type Spend } from './operators.ts'
import { parseTemplate, type TemplateExpression, type TemplatePart } from './parse-template.ts'
import type { Substitution } from './substitution.ts'
import { TemplateError } from './template-error.ts'
import type { Variable } from './variable.ts'

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
 * counts in bytes. Throws TemplateError for what Flux refuses and for results that are no text, `render-limits` for more
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

/** A name is written by people: not all of a long one is said. */
const shown = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
