import { canonical, type Node, type Path } from '../../kube/node.ts'
import { matchesText } from '../core/matches-text.ts'
import type { Problem } from '../model/problem.ts'
import type { CustomSchema } from './custom-schema.ts'
import { formatProblem } from './format-problem.ts'
import { jsonNode } from './json-node.ts'

/** Receives what is found in a value. */
export interface ValueListener {
  problem(problem: Problem): void
  /** It is not known whether a value is allowed. */
  unsure(): void
}

/** What a schema says of one value alone: words, bounds, pattern and format (k8s.io/kube-openapi, pkg/validation/validate). */
export function valueProblems(node: Node, schema: CustomSchema, path: Path, heard: ValueListener): void {
  if (schema.words && !isWord(node, schema.words)) {
    const names = schema.words.filter(word => typeof word === 'string')
    heard.problem({ kind: 'not-allowed', path, allowed: names.join(', '), found: 'another value', names })
  }
  const { bounds } = schema
  if (node.type === 'map')
    checkCount(node.fields.size, bounds.minProperties, bounds.maxProperties, 'fields', path, heard)
  else if (node.type === 'list') {
    checkCount(node.items.length, bounds.minItems, bounds.maxItems, 'items', path, heard)
    if (schema.isUnique && new Set(node.items.map(canonical)).size < node.items.length)
      heard.problem({ kind: 'duplicate', path, allowed: 'each item once', found: 'a duplicate' })
  } else if (typeof node.value === 'string') checkText(node.value, schema, path, heard)
  else if (typeof node.value === 'number' || typeof node.value === 'bigint')
    checkNumber(node.value, schema, path, heard)
}

const isWord = (node: Node, words: NonNullable<CustomSchema['words']>): boolean =>
  (node.type === 'scalar' && typeof node.value === 'string' && words.includes(node.value)) ||
  words.some(word => canonical(jsonNode(word)) === canonical(node))

function checkCount(
  count: number,
  least: number | undefined,
  most: number | undefined,
  name: string,
  path: Path,
  heard: ValueListener,
): void {
  const bad = (allowed: string) =>
    heard.problem({ kind: 'bad-format', path, allowed, found: `a value of ${count} ${name}` })
  if (least !== undefined && count < least) bad(`a value of at least ${least} ${name}`)
  if (most !== undefined && count > most) bad(`a value of at most ${most} ${name}`)
}

function checkText(text: string, { bounds, pattern, format }: CustomSchema, path: Path, heard: ValueListener): void {
  const { minLength, maxLength } = bounds
  // a character has one or two units
  const isCounted = text.length < 2 * (minLength ?? 0) || text.length > (maxLength ?? Infinity)
  if (isCounted) checkCount([...text].length, minLength, maxLength, 'characters', path, heard)
  if (pattern !== '') {
    const answer = matchesText(pattern, text)
    if (answer === undefined) heard.unsure()
    if (answer === false)
      heard.problem({
        kind: 'bad-format',
        path,
        allowed: `text that matches ${pattern}`,
        found: 'text that does not match',
      })
  }
  const problem = format === '' ? undefined : formatProblem(text, format, path)
  if (problem === 'unsure') heard.unsure()
  else if (problem) heard.problem(problem)
}

function checkNumber(value: number | bigint, { bounds, format }: CustomSchema, path: Path, heard: ValueListener): void {
  const number = Number(value)
  const bad = (allowed: string) => heard.problem({ kind: 'bad-format', path, allowed, found: 'another number' })
  const { minimum: least, maximum: most, multipleOf: step, isMoreThan, isLessThan } = bounds
  if (least !== undefined && (number < least || (number === least && isMoreThan)))
    bad(`a number of ${isMoreThan ? 'more than' : 'at least'} ${least}`)
  if (most !== undefined && (number > most || (number === most && isLessThan)))
    bad(`a number of ${isLessThan ? 'less than' : 'at most'} ${most}`)
  if (step !== undefined && !Number.isInteger(number / step)) bad(`a multiple of ${step}`)
  if (format === 'int32' && Number.isInteger(number) && (number < -(2 ** 31) || number >= 2 ** 31))
    bad('a whole number of 32 bits')
}
