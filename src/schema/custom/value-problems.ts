import { canonical, type Node, type Path, type ScalarNode } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'
import type { CustomSchema } from './custom-schema.ts'
import { formatProblem } from './format-problem.ts'
import { jsonNode } from './json-node.ts'
import { matchesText } from './matches-text.ts'

/** What a schema says of one value alone: words, bounds, pattern and format (k8s.io/kube-openapi, pkg/validation/validate). */
export function* valueProblems(node: Node, schema: CustomSchema, path: Path): Generator<Problem | 'unsure'> {
  if (schema.words && !schema.words.some(word => canonical(jsonNode(word)) === canonical(node))) {
    const names = schema.words.filter(word => typeof word === 'string')
    yield { kind: 'not-allowed', path, allowed: names.join(', '), found: 'another value', names }
  }
  if (node.type === 'map') yield* countProblems(node.fields.size, schema, 'Properties', 'fields', path)
  else if (node.type === 'list') {
    yield* countProblems(node.items.length, schema, 'Items', 'items', path)
    if (schema.isUnique && new Set(node.items.map(canonical)).size < node.items.length)
      yield { kind: 'duplicate', path, allowed: 'each item once', found: 'a duplicate' }
  } else if (typeof node.value === 'string') yield* textProblems(node.value, schema, path)
  else if (typeof node.value === 'number' || typeof node.value === 'bigint') yield* numberProblems(node, schema, path)
}

function* countProblems(
  count: number,
  { bounds }: CustomSchema,
  what: 'Properties' | 'Items' | 'Length',
  name: string,
  path: Path,
): Generator<Problem> {
  const [least, most] = [bounds.get(`min${what}`), bounds.get(`max${what}`)]
  const bad = (allowed: string): Problem => ({
    kind: 'bad-format',
    path,
    allowed,
    found: `a value of ${count} ${name}`,
  })
  if (least !== undefined && count < least) yield bad(`a value of at least ${least} ${name}`)
  if (most !== undefined && count > most) yield bad(`a value of at most ${most} ${name}`)
}

function* textProblems(text: string, schema: CustomSchema, path: Path): Generator<Problem | 'unsure'> {
  yield* countProblems([...text].length, schema, 'Length', 'characters', path)
  if (schema.pattern !== '') {
    const answer = matchesText(schema.pattern, text)
    if (answer === undefined) yield 'unsure'
    if (answer === false)
      yield {
        kind: 'bad-format',
        path,
        allowed: `text that matches ${schema.pattern}`,
        found: 'text that does not match',
      }
  }
  const problem = formatProblem(text, schema.format, path)
  if (problem) yield problem
}

function* numberProblems({ value }: ScalarNode, { bounds, format }: CustomSchema, path: Path): Generator<Problem> {
  const number = Number(value)
  const bad = (allowed: string): Problem => ({ kind: 'bad-format', path, allowed, found: 'another number' })
  const [least, most, step] = [bounds.get('minimum'), bounds.get('maximum'), bounds.get('multipleOf')]
  if (least !== undefined && (number < least || (number === least && bounds.has('exclusiveMinimum'))))
    yield bad(`a number of ${bounds.has('exclusiveMinimum') ? 'more than' : 'at least'} ${least}`)
  if (most !== undefined && (number > most || (number === most && bounds.has('exclusiveMaximum'))))
    yield bad(`a number of ${bounds.has('exclusiveMaximum') ? 'less than' : 'at most'} ${most}`)
  if (step !== undefined && !Number.isInteger(number / step)) yield bad(`a multiple of ${step}`)
  if (format === 'int32' && Number.isInteger(number) && (number < -(2 ** 31) || number >= 2 ** 31))
    yield bad('a whole number of 32 bits')
}
