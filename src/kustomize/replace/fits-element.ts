import { BailiwickError } from '../../errors.ts'
import { writtenText } from '../../kube/edit-node.ts'
import type { Node } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Entry } from '../model/entry.ts'
import { containsPattern, type StepBudget } from '../select/pattern.ts'
import { isPlainText } from './plain-text.ts'

/**
 * Whether the expression of `[key=expression]` is found in a value as kustomize writes it, quotes and comments included
 * (kyaml's PathMatcher). Throws `kustomize-unsupported` where that depends on how the value is written.
 */
export function fitsElement(expression: Entry, value: Node, budget: StepBudget): boolean {
  const written = writtenForms(value, expression)
  const [first, ...others] = written.map(text => containsPattern(expression, text, budget))
  if (others.some(other => other !== first)) refuse('whose match depends on quotes', value, expression)
  const comments = value.type === 'scalar' ? value.commented : undefined
  if (comments !== undefined && !written.every(text => isSameWith(comments, text, expression))) {
    refuse('that may match a comment', value, expression)
  }
  return first!
}

/** Whether an expression says the same of a text with and without comments: only a word is known to be in one of them. */
const isSameWith = (comments: string, text: string, { text: word }: Entry): boolean =>
  /^[\w/:@-]+$/.test(word) && (text.includes(word) || !comments.includes(word))

function writtenForms(value: Node, expression: Entry): string[] {
  if (value.type !== 'scalar' || value.style)
    return refuse('for a value that is not one line of text', value, expression)
  const text = writtenText(value)
  if (typeof value.value !== 'string' || value.untyped) return [text.trim()]
  const needsQuotes = value.quoted || resolvePlain(text) !== text || !isPlainText(text, false)
  if (!needsQuotes) return [text]
  if (/[^ -~]|["'\\]/.test(text)) return refuse('for text with special characters', value, expression)
  return [`"${text}"`, `'${text}'`]
}

function refuse(what: string, value: Node, expression: Entry): never {
  const where = `${value.origin.file}:${value.origin.line}`
  const message = `replacements: the expression ${JSON.stringify(expression.text.slice(0, 100))} ${what} is not supported (at ${where})`
  throw new BailiwickError('kustomize-unsupported', message, { origin: expression.origin })
}
