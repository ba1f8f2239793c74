import type { RuleSteps } from './jmespath/rule-steps.ts'
import { search } from './jmespath/search.ts'
import { type ContextValue, RuleError } from './jmespath/values.ts'

/** A context name. It is evaluated when an expression uses it, and sees only earlier names. */
interface Entry {
  readonly mention: RegExp
  readonly load: (context: JsonContext) => void
  isAsked: boolean
}

/** The names that a rule's expressions can use (pkg/engine/context of Kyverno). */
export class JsonContext {
  readonly steps: RuleSteps
  /** In a deletion, `request.object` is the object being deleted. */
  readonly isDeletion: boolean
  readonly #values: Map<string, ContextValue>
  readonly #entries: Entry[] = []
  #open = Number.POSITIVE_INFINITY

  constructor(values: ReadonlyMap<string, ContextValue>, isDeletion: boolean, steps: RuleSteps) {
    this.#values = new Map(values)
    this.isDeletion = isDeletion
    this.steps = steps
  }

  /** A context for one list item, in which names can be redefined. */
  child(values: readonly (readonly [string, ContextValue])[]): JsonContext {
    const made = new JsonContext(new Map([...this.#values, ...values]), this.isDeletion, this.steps)
    for (const entry of this.#entries) made.#entries.push({ ...entry })
    return made
  }

  set(name: string, value: ContextValue): void {
    this.#values.set(name, value)
  }

  /** Defines `name` and calls `load` when an expression first uses it. */
  defer(name: string, load: (context: JsonContext) => void): void {
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const mention = new RegExp(`(?:^|\\s|[^.0-9A-Za-z])${escaped}(?![0-9A-Za-z_])`)
    this.#entries.push({ mention, load, isAsked: false })
  }

  /** The result of an expression; throws RuleError if Kyverno cannot evaluate it. */
  query(expression: string): ContextValue {
    this.#loadFor(expression)
    const text = expression.trim()
    if (text === '') throw new RuleError('invalid query (nil)')
    return search(text, this.#values, this.steps)
  }

  #loadFor(expression: string): void {
    const open = Math.min(this.#open, this.#entries.length)
    for (let index = 0; index < open; index++) {
      const entry = this.#entries[index]!
      if (entry.isAsked || !entry.mention.test(expression)) continue
      entry.isAsked = true
      const before = this.#open
      this.#open = index
      try {
        entry.load(this)
      } finally {
        this.#open = before
      }
    }
  }
}
