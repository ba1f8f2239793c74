import { describe, expect, test } from 'vitest'
import { CelProgram } from '../../../src/expr/cel-program.ts'
import type { Json } from '../../../src/kube/node.ts'
import { ANSWERS, OBJECT } from './answers-of-cel-go.ts'

function ask(text: string, input: { [name: string]: Json } = OBJECT): string {
  const program = CelProgram.compile(text)
  if ('problem' in program) return `problem: ${program.problem}`
  const answer = program.test(input)
  return 'error' in answer ? `error: ${answer.error}` : String(answer.value)
}

describe('answers as cel-go', () => {
  test.each(ANSWERS)('%s', (text, answer) => {
    const found = ask(text)
    expect(found.startsWith('problem') ? 'error' : found.replace(/:.*/s, '')).toBe(answer)
  })
})

test('integers beyond 2^53 are exact', () => {
  const { parse } = JSON as unknown as { parse(text: string, reviver: unknown): Json }
  const exact = parse('{"big": 9007199254740993}', (_: string, value: unknown, { source }: { source: string }) =>
    typeof value === 'number' ? (JSON as unknown as { rawJSON(text: string): Json }).rawJSON(source) : value,
  ) as { [name: string]: Json }
  expect(ask('big == 9007199254740993', exact)).toBe('true')
  expect(ask('big == 9007199254740992', exact)).toBe('false')
})

describe('expressions of tenants cost a limited number of steps', () => {
  const list = (count: number) => `[${Array.from({ length: count }, (_, index) => index).join(',')}]`
  const input = { list: Array.from({ length: 20_000 }, (_, index) => index), text: 'a'.repeat(100_000) }
  const many = 'it takes more than 1000000 steps'
  test.each([
    ['nested loops over a list', 'list.all(a, list.all(b, a + b >= 0))'],
    ['nested loops over literals', `${list(200)}.all(a, ${list(200)}.all(b, ${list(200)}.all(c, true)))`],
    ['lists that grow', 'list.all(a, (list + list + list).size() > a)'],
    ['comparing long lists', 'list.all(a, list == list)'],
    ['sets', 'sets.equivalent(list, list.map(x, x + 1))'],
    ['texts that are searched', "list.all(a, !text.contains('b'))"],
    ['a regular expression', "list.all(a, !text.matches('(a+)+$b'))"],
  ])('%s', (_what, text) => {
    expect(ask(text, input)).toBe(`error: ${many}`)
  })

  test.each([
    ['one loop over a long list', 'list.all(a, a >= 0)', 'true'],
    ['a regular expression that others choke on', "!text.matches('^(a+)+b')", 'true'],
    ['two short loops', `${list(50)}.all(a, ${list(50)}.exists(b, a == b))`, 'true'],
  ])('%s is allowed', (_what, text, answer) => {
    expect(ask(text, input)).toBe(answer)
  })

  test.each([
    ['brackets', `${'('.repeat(5_000)}1${')'.repeat(5_000)}`, 'it is nested more than 60 levels deep'],
    ['lists', '['.repeat(5_000), 'it is nested more than 60 levels deep'],
    ['negations', `${'!'.repeat(5_000)}true`, 'it is nested more than 60 levels deep'],
    ['fields', `a${'.a'.repeat(5_000)}`, 'it has more than 60 fields in a row'],
    ['operators', `1${'+1'.repeat(5_000)} == 1`, 'it has more than 60 operators in a row'],
    ['choices', `${'true ? 1 : '.repeat(1_000)}1`, 'it is nested more than 60 levels deep'],
    ['a long text', `'${'a'.repeat(20_000)}' == ''`, 'it is longer than 20000 characters'],
  ])('too many %s are refused', (_what, text, problem) => {
    expect(ask(text)).toBe(`problem: ${problem}`)
  })

  test('texts do not grow without end', () => {
    const grown = "['x'].map(a, a.replace('', text)).map(a, a.replace('', text)).map(a, a.replace('', text)) == []"
    expect(ask(grown, input)).toBe('error: a text grows beyond 1000000 characters')
  })
})

test('names of Object.prototype are no fields', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    expect(ask(`has(metadata.${name})`)).toBe('false')
    expect(ask(`${name} == 1`)).toBe(`error: no such attribute(s): ${name}`)
  }
})

describe('with declared names, the answer must be a bool', () => {
  const compile = (text: string) => {
    const program = CelProgram.compile(text, ['self', 'dep'])
    return 'problem' in program ? program.problem : 'compiled'
  }
  test.each([
    "dep.status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')",
    'dep.metadata.annotations["v"] == self.metadata.annotations["v"]',
    'has(dep.status) && !has(self.spec.x)',
    'dep.status.x in [1, 2]',
    'true',
    'self.a == 1 ? dep.b == 1 : false',
    "dep.metadata.name.startsWith('a')",
    'type(dep.a) == int',
  ])('%s', text => expect(compile(text)).toBe('compiled'))

  test.each([
    ['dep.status.ready', 'its result is not a bool'],
    ['1', 'its result is not a bool'],
    ['self.a == 1 ? dep.b : false', 'its result is not a bool'],
    ['status.ready == true', "undeclared reference to 'status'"],
    ['dep.list.all(x, y == 1)', "undeclared reference to 'y'"],
    ['dep.status.x ==', 'it ends too early'],
  ])('%s', (text, problem) => expect(compile(text)).toBe(problem))
})
