import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { htmlOf, markdownOf, terminalOf } from '../../../src/base/markup.ts'
import {
  fixOf,
  listed,
  type Message,
  message,
  part,
  plainText,
  sayingOf,
  typedMessage,
  untyped,
  type ValueType,
} from '../../../src/base/message.ts'

const TYPES: readonly ValueType[] = [
  'tenant',
  'object',
  'field',
  'repository',
  'branch',
  'path',
  'identity',
  'value',
  'text',
]

const HOSTILE = [
  '@org/everyone',
  '**bold** _it_ ~~x~~',
  '[a](https://evil.example)',
  '![a](https://evil.example/x.png)',
  '<img src=x onerror=alert(1)>',
  '</code></p><script>alert(1)</script>',
  'a | b || c',
  'a\n# heading\r\n- list',
  '`',
  '``x` y```',
  '"``"',
  '\u202eoverride\u2066\u200b\ufeff',
  '\u001b[31mred\u001b[0m\u0007',
  'fixes #1, GH-12, deadbeefdeadbeef',
  '\ud800',
  '',
  'x'.repeat(10_000),
  '`'.repeat(10_000),
  '&lt;&#60;',
]

const sayings = (type: ValueType, value: string): Message[] => [
  message`Deployment ${part(type, value)} is here`,
  message`${part(type, value)}${part(type, value)}`,
  message`"${part(type, value)}" and \`${part(type, value)}\``,
]

/** What CommonMark leaves outside of code spans. */
function outsideOfCode(markdown: string): string {
  let out = ''
  let rest = markdown
  for (;;) {
    const open = /`+/.exec(rest)
    if (!open) return out + rest
    const after = rest.slice(open.index + open[0].length)
    const close = [...after.matchAll(/`+/g)].find(run => run[0].length === open[0].length)
    out += rest.slice(0, open.index) + (close ? '' : open[0])
    rest = close ? after.slice(close.index + close[0].length) : after
  }
}

describe.each(TYPES)('a value of type %s', type => {
  test.each(HOSTILE.map(value => [value.slice(0, 40), value]))(
    '%j is code in Markdown, and nothing else',
    (_start, value) => {
      for (const said of sayings(type, value)) {
        const markdown = markdownOf(said)
        expect(outsideOfCode(markdown)).toMatch(/^[\w\s.,:;()… ‘-]*$/)
        expect(markdown).not.toMatch(/[\p{C}|]/u)
        expect(markdown.length).toBeLessThan(9_000)
      }
    },
  )

  test.each(HOSTILE.map(value => [value.slice(0, 40), value]))(
    '%j is text in HTML, and nothing else',
    (_start, value) => {
      for (const said of sayings(type, value)) {
        const markup = htmlOf(said)
        expect(markup.replaceAll(/<\/?code>/g, '')).not.toMatch(/[<>"'`\p{C}]/u)
        expect(markup.replaceAll(/&(?:amp|lt|gt|quot|#39|#96);/g, '')).not.toContain('&')
        expect(markup.length).toBeLessThan(60_000)
      }
    },
  )

  test.each(HOSTILE.map(value => [value.slice(0, 40), value]))(
    '%j is one line of a terminal without sequences of its own',
    (_start, value) => {
      for (const said of sayings(type, value)) {
        const [plain, colored] = [terminalOf(said), terminalOf(said, 1000, true)]
        expect(plain).not.toMatch(/\p{C}/u)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences are ours
        expect(colored.replaceAll(/\x1b\[(?:\d{1,2})m/g, '')).toBe(plain)
        expect(plain.length).toBeLessThan(1_100)
      }
    },
  )
})

test('words of ours stand as they are, values as what they are', () => {
  const said = message`Deployment ${part('object', 'ops/web')} is in "${part('object', 'ops')}": set \`metadata.namespace\` to ${part('value', 'a b', '"a b"')} (see *docs*)`
  expect(plainText(said)).toBe('Deployment ops/web is in "ops": set `metadata.namespace` to "a b" (see *docs*)')
  expect(markdownOf(said)).toBe('Deployment `ops/web` is in `ops`: set `metadata.namespace` to `a b` (see \\*docs\\*)')
  expect(htmlOf(said)).toBe(
    'Deployment <code>ops/web</code> is in <code>ops</code>: set <code>metadata.namespace</code> to <code>a b</code> (see *docs*)',
  )
  expect(terminalOf(said)).toBe(plainText(said))
  expect(terminalOf(said, 1000, true)).toContain('Deployment \u001b[1mops/web\u001b[0m is in')
})

test('a name of letters is code, too: nothing guesses from the word', () => {
  const said = message`tenant ${part('tenant', 'payments')} applies ${part('object', 'web shop')}`
  expect(markdownOf(said)).toBe('tenant `payments` applies `web shop`')
  expect(htmlOf(said)).toBe('tenant <code>payments</code> applies <code>web shop</code>')
})

test('a sentence without types is found out from its words, as before', () => {
  const said = message`${untyped('field "x.y" is wrong.')} It is in ${part('path', 'a.yaml')}`
  expect(markdownOf(said)).toBe('field `x.y` is wrong. It is in `a.yaml`')
  expect(htmlOf(untyped('set `a` or "b"'))).toBe('set <code>a</code> or &quot;b&quot;')
})

test('a list of many values ends where nobody reads on', () => {
  const many = listed(Array.from({ length: 5_000 }, (_, at) => part('object', `n${at}`)))
  expect(markdownOf(message`in ${many}`).length).toBeLessThan(6_000)
  expect(markdownOf(message`in ${many}`)).toMatch(/…$/)
})

test('what is carried is the text as it was, and its types beside it', () => {
  const text = message`no ${part('tenant', 'x', '"x"')}`
  const carried = sayingOf(text, 'Do it.')
  expect(carried).toEqual({ message: 'no "x"', fix: 'Do it.', typed: text })
  expect(JSON.parse(JSON.stringify(typedMessage(carried)))).toEqual(text)
  expect(fixOf(carried)).toEqual(untyped('Do it.'))
})

test('where the text was changed since, the types say nothing about it', () => {
  const typed = message`no ${part('tenant', 'x')}`
  expect(typedMessage({ message: 'no y', typed })).toEqual(untyped('no y'))
})

test('a value that may come from outside does not get in as words of ours', () => {
  const name: string = JSON.parse('"evil"')
  // @ts-expect-error: a string
  message`no ${name}`
  // @ts-expect-error: a string with a literal beginning
  message`no ${`x${name}` as const}`
  // @ts-expect-error: or one of several
  message`no ${Math.random() > 2 ? 'x' : name}`
  // @ts-expect-error: a message is made of a template only
  const made: Message = { parts: [name] }
  const kind = Math.random() > 2 ? 'branch' : 'tag'
  expect(plainText(message`a ${kind}`)).toBe('a tag')
  expect(made).toBeDefined()
})

test('the plain text is that of the template, whatever the values', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const said = message`x "${part('value', a)}" y \`${part('path', b)}\`${part('object', a)}`
      expect(plainText(said)).toBe(`x "${a}" y \`${b}\`${a}`)
    }),
  )
})
