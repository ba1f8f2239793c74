import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Node as YamlNode } from 'yaml'
import { BailiwickError } from '../../../src/base/errors.ts'
import type { Node } from '../../../src/kube/node.ts'
import { parseText } from '../../../src/kube/yaml/parse-documents.ts'

const WORDS = ['a', 'b c', 'x-y', 'http://x/y', 'a#b', '100m', 'nginx:1.2', 'é', 'w=1', '-a', 'yes']
const scalar = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom(...WORDS).map(word => `'${word}'`),
  fc.constantFrom(...WORDS, 'a\\nb', '\\u00e9', '{', '# c').map(word => `"${word}"`),
)
const flow = fc.letrec(tie => ({
  value: fc.oneof({ maxDepth: 2 }, scalar, tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 3 }).map(items => `[${items.join(', ')}]`),
  map: fc
    .array(tie('value'), { maxLength: 3 })
    .map(items => `{${items.map((item, i) => `k${i}: ${item}`).join(', ')}}`),
})).value as fc.Arbitrary<string>

const indented = (lines: readonly string[]): string[] => lines.map(line => (line === '' ? '' : `  ${line}`))
const text = fc
  .tuple(
    fc.constantFrom('|', '|-', '|+', '>-'),
    fc.array(fc.constantFrom('a', ' b', '- c', 'k: v', ''), { maxLength: 4 }),
  )
  .map(([sign, lines]) => [sign, ...indented(['x', ...lines, 'y'])])

/** Lines of a value; the first stands behind `key:` or `-`, with a space where it is not empty. */
const block = fc.letrec<{ value: string[]; map: string[]; list: string[] }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(fc.oneof(scalar, flow), fc.constantFrom('', ' # c')).map(([value, comment]) => [value + comment]),
    text,
    tie('map').map(lines => ['', ...indented(lines)]),
    tie('list').map(lines => ['', ...lines]),
  ),
  map: fc
    .array(tie('value'), { minLength: 1, maxLength: 3 })
    .map(values => values.flatMap(([first, ...rest], i) => [`k${i}:${first ? ` ${first}` : ''}`, ...rest])),
  list: fc
    .array(tie('value'), { minLength: 1, maxLength: 3 })
    .map(values =>
      values.flatMap(([first, ...rest]) => [`  -${first ? ` ${first}` : ''}`, ...rest.map(line => `  ${line}`)]),
    ),
})).map

type Placed = [place: string, value: unknown]

/** What the `yaml` package reads, each value with its line and column. */
function theirs(source: string): Placed | undefined {
  const lines = new LineCounter()
  const document = parseDocument(source, { schema: 'failsafe', lineCounter: lines, logLevel: 'silent' })
  if (document.errors.length > 0) return undefined
  const place = (node: YamlNode): string => {
    const { line, col } = lines.linePos(node.range![0])
    return `${line}:${col}`
  }
  const read = (node: YamlNode): Placed => {
    if (isMap(node))
      return [place(node), node.items.map(pair => [read(pair.key as YamlNode), read(pair.value as YamlNode)])]
    if (isSeq(node)) return [place(node), node.items.map(item => read(item as YamlNode))]
    if (isAlias(node) || !isScalar(node)) throw new Error('the grammar has neither')
    return [place(node), node.value]
  }
  return read(document.contents as YamlNode)
}

function ours(source: string): Placed | undefined {
  const at = (node: { line: number; column: number }): string => `${node.line}:${node.column}`
  const read = (node: Node): Placed => {
    if (node.type === 'scalar') return [at(node.origin), node.value]
    if (node.type === 'list') return [at(node.origin), node.items.map(read)]
    return [at(node.origin), [...node.fields].map(([key, { key: origin, value }]) => [[at(origin), key], read(value)])]
  }
  try {
    const [document] = parseText(source, (line, column) => ({ repository: '', file: 'a', line, column })).documents
    return read(document!)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return undefined
  }
}

test('values and their places are those of the yaml package, or the text is refused', () => {
  let same = 0
  fc.assert(
    fc.property(block, lines => {
      const source = `${lines.join('\n')}\n`
      const own = ours(source)
      if (!own) return
      expect(own, source).toEqual(theirs(source))
      same++
    }),
    { seed: 4, numRuns: 1500 },
  )
  expect(same).toBeGreaterThan(1000)
})
