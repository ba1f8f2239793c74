import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { at, type ScalarNode, toJson } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'

const FILE = { repository: 'https://example.com/r', path: 'dir/a.yaml' }
const parse = (text: string | Uint8Array) => parseDocuments(FILE, typeof text === 'string' ? Buffer.from(text) : text)

function refusal(text: string | Uint8Array): string {
  try {
    parse(text)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return `${error.code} ${error.origin?.file}:${error.origin?.line}:${error.origin?.column}`
  }
  return 'parsed'
}

describe('values, as kustomize reads them', () => {
  const cases: [string, unknown][] = [
    ['0644', 420],
    ['0o644', 420],
    ['08', 8],
    ['0b11', 3],
    ['0x1F', 31],
    ['1_000', 1000],
    ['+5', 5],
    ['-0x10', -16],
    ['9007199254740993', 9007199254740993n],
    ['18446744073709551615', 18446744073709551615n],
    ['18446744073709551616', 18446744073709552000],
    ['1e3', 1000],
    ['1e400', '1e400'],
    ['yes', 'yes'],
    ['on', 'on'],
    ['True', true],
    ['tRUE', 'tRUE'],
    ['~', null],
    ['', null],
    ['12:30:45', '12:30:45'],
    ['2024-1-1', '2024-01-01T00:00:00Z'],
    ['2024-13-01', '2024-13-01'],
    ['"1"', '1'],
    ['!!str 1', '1'],
  ]
  for (const [text, value] of cases) {
    test(JSON.stringify(text), () => {
      expect(at(parse(`a: ${text}\n`)[0], ['a'])).toMatchObject({ type: 'scalar', value })
    })
  }
  test('the written text stays where it differs', () => {
    expect(at(parse('a: 1.10\n')[0], ['a'])).toMatchObject({ value: 1.1, text: '1.10' })
    expect(at(parse('a:\n')[0], ['a'])).toMatchObject({ value: null, text: '' })
  })
})

test('documents, empty ones dropped', () => {
  expect(parse('# nothing\n---\na: 1\n---\n---\nnull\n---\n# x\nb: 2\n').map(toJson)).toEqual([{ a: 1 }, { b: 2 }])
})

test('origins are 1-based and name repository and file', () => {
  const [, second] = parse('a: 1\n---\nb:\n  - c: x\n')
  expect(at(second, ['b', 0, 'c'])?.origin).toEqual({
    repository: FILE.repository,
    file: FILE.path,
    line: 4,
    column: 8,
  })
  const list = at(second, ['b', 0])
  expect(list?.type === 'map' && list.fields.get('c')?.key.column).toBe(5)
})

test('__proto__ is a key like any other', () => {
  const [document] = parse('__proto__: {polluted: true}\nconstructor: x\n')
  expect(Object.keys(toJson(document!) as object)).toEqual(['__proto__', 'constructor'])
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

test('YAML inside a block scalar is text', () => {
  const text = 'data:\n  x: |\n    a: 1\n    a: 2\n    <<: *none\n    ---\n    ...\n    %TAG\n    !!binary x\n'
  expect(toJson(parse(text)[0]!)).toEqual({
    data: { x: 'a: 1\na: 2\n<<: *none\n---\n...\n%TAG\n!!binary x\n' },
  })
})

test('merge keys are merged, own keys win, aliases are expanded', () => {
  const [document] = parse('x: &x {a: 1, b: 2}\ny: &y {a: 3}\nz:\n  <<: [*y, *x]\n  b: 4\nw: *x\n')
  expect(toJson(document!)).toMatchObject({ z: { a: 3, b: 4 }, w: { a: 1, b: 2 } })
})

test('a value knows the comments beside it', () => {
  const [document] = parse('# of the file\na:\n# before\n- x # behind\n# after\n\n- y\n- z\nb: w\n')
  const commented = [['a', 0], ['a', 1], ['a', 2], ['b']].map(path => at(document, path)) as ScalarNode[]
  expect(commented.map(node => node.commented)).toEqual([
    '# before\n# behind\n# after',
    '# behind\n# after',
    undefined,
    undefined,
  ])
})

test('a name that begins anew inside of its value stands for the inner one', () => {
  const [document] = parse('x: &x [&x a, *x]\ny: *x\n')
  expect(toJson(document!)).toEqual({ x: ['a', 'a'], y: 'a' })
})

describe('refused, with the place', () => {
  const place = (line: number, column: number): string => ` dir/a.yaml:${line}:${column}`
  const cases: [string, string | Uint8Array, string][] = [
    ['invalid UTF-8', new Uint8Array([0x61, 0xff]), `yaml-encoding${place(1, 1)}`],
    ['UTF-16 in part', Buffer.from('\ufeffa: 1', 'utf16le').subarray(1), `yaml-encoding${place(1, 1)}`],
    ['two documents in UTF-16', Buffer.from('\ufeffa: 1\n---\nb: 1', 'utf16le'), `yaml-encoding${place(1, 1)}`],
    [
      'UTF-16 that holds bytes of a line break',
      Buffer.from('\ufeffa: \u0d0a', 'utf16le'),
      `yaml-encoding${place(1, 1)}`,
    ],
    ['NUL', 'a: 1\nb: x\0y\n', `yaml-encoding${place(2, 5)}`],
    ['C1 control', 'a: \x9b\n', `yaml-encoding${place(1, 4)}`],
    ['BOM inside', 'a: 1\n\ufeffb: 2\n', `yaml-encoding${place(2, 1)}`],
    ['lone CR', '# c\r  namespace: kube-system\n', `yaml-ambiguous${place(1, 4)}`],
    ['NEL', 'a: x\u0085y\n', `yaml-ambiguous${place(1, 5)}`],
    ['U+2028', 'a: |\n  x\u2028y\n', `yaml-ambiguous${place(2, 4)}`],
    ['duplicate key', 'a: 1\nb: 2\na: 3\n', `yaml-ambiguous${place(3, 1)}`],
    ['duplicate quoted key', 'a: 1\n"a": 3\n', `yaml-ambiguous${place(2, 1)}`],
    ['number as key', 'a:\n  1: x\n', `yaml-ambiguous${place(2, 3)}`],
    ['boolean as key', 'true: x\n', `yaml-ambiguous${place(1, 1)}`],
    ['list as key', '? [a]\n: b\n', `yaml-ambiguous${place(1, 3)}`],
    ['nested question marks', '? '.repeat(20_000), `yaml-ambiguous${place(1, 3)}`],
    ['binary', 'a: !!binary aGk=\n', `yaml-ambiguous${place(1, 13)}`],
    ['the tag of a merge key on another key', 'a: &x {b: 1}\nc: {!!merge d: *x}\n', `yaml-ambiguous${place(2, 13)}`],
    ['a tagged merge key in quotes', 'a: &x {b: 1}\nc: {!!merge "<<": *x}\n', `yaml-ambiguous${place(2, 13)}`],
    ['a merge key with an anchor', 'a: &x {b: 1}\nc: {&y <<: *x}\n', `yaml-ambiguous${place(2, 8)}`],
    ['the tag of a merge key on a value', 'a: !!merge <<\n', `yaml-ambiguous${place(1, 12)}`],
    [
      'two merge keys, one with its tag',
      'a: &x {b: 1}\nc: {<<: *x, !!merge <<: *x}\n',
      `yaml-ambiguous${place(2, 21)}`,
    ],
    ['unknown tag', 'a: !thing x\n', `yaml-ambiguous${place(1, 11)}`],
    ['content after ...', 'a: 1\n...\nb: 2\n', `yaml-ambiguous${place(3, 1)}`],
    ['content after ---', 'a: 1\n--- {b: 2}\n', `yaml-ambiguous${place(2, 1)}`],
    ['a separator that is none for YAML', 'a: x\n---y\n', `yaml-ambiguous${place(2, 1)}`],
    ['concatenated JSON', '{"a": 1}{"b": 2}', `yaml-ambiguous${place(1, 9)}`],
    ['directive', '%YAML 1.1\n---\na: 1\n', `yaml-ambiguous${place(1, 1)}`],
    ['infinity', 'a: .inf\n', `yaml-ambiguous${place(1, 4)}`],
    ['alias of nothing', 'a: *b\n', `yaml-syntax${place(1, 4)}`],
    ['alias of itself', 'a: &a [*a]\n', `yaml-syntax${place(1, 8)}`],
    ['syntax', 'a: [1\nb: 2\n', `yaml-syntax${place(2, 2)}`],
    ['nothing between braces', 'a: {b: , c: 1}\n', `yaml-ambiguous${place(1, 5)}`],
  ]
  for (const [name, text, expected] of cases) {
    test(name, () => {
      expect(refusal(text)).toBe(expected)
    })
  }
})

describe('limits, counted in steps', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 9; i++) {
    const name = String.fromCharCode(97 + i)
    bomb.push(
      `${name}: &${name} [${Array(9)
        .fill(`*${String.fromCharCode(96 + i)}`)
        .join(', ')}]`,
    )
  }
  const cases: [string, string][] = [
    ['brackets', '['.repeat(20_000)],
    ['braces', '{"a":'.repeat(20_000)],
    ['dashes', '- '.repeat(20_000)],
    ['aliases', `${bomb.join('\n')}\n`],
    ['documents', '---\na: 1\n'.repeat(6_000)],
    ['bytes', `a: ${'x'.repeat(9 * 1024 * 1024)}`],
  ]
  for (const [name, text] of cases) {
    test(name, () => {
      expect(refusal(text)).toMatch(/^render-limits/)
    })
  }
})

test.each([
  '"hunter2\n  bad indent\nx: [',
  '!hunter2 x',
  '*hunter2',
  '0x-hunter2',
  '0x-1',
  '{hunter2}',
  '{hunter2: }',
  '[{hunter2}]',
])('a message never shows the text around a mistake: %j', value => {
  expect(() => parse(`password: ${value}`)).toThrow(/^(?!.*(?:hunter2|0x-1))/s)
})
