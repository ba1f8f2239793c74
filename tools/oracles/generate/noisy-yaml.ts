import type { Chance } from './chance.ts'

const WORDS = [
  ...['a', 'b', 'x y', 'a  b', 'nginx:1.2', '100m', '-a', 'a-b', 'http://x/y', 'a#b', 'é', '😀', '<', '=', '}}'],
  ...['0', '07', '1.5', '1_0', '0x1f', '.5', '12:30:45', '2024-01-01', 'true', 'null', '~', 'yes', 'it', 'p'],
] as const
const ODD_WORDS = [
  ...[
    '-',
    '--',
    '---',
    '...',
    '?',
    'a:b',
    'a: b',
    '#c',
    'a #c',
    '- a',
    ':a',
    '?a',
    '<<',
    '!!merge <<',
    '!!merge a',
    '!<tag:yaml.org,2002:merge> <<',
    '*a',
    '&a b',
    '!!str 1',
    '!x y',
  ],
  ...[
    '!!int 1',
    '@a',
    '%a',
    '`',
    '',
    ' ',
    'a\tb',
    '"q"',
    "'s'",
    "it''s",
    '|',
    '>',
    '{}',
    '[]',
    '[a, b]',
    '{a: b}',
    'a,b',
  ],
  ...['.inf', '+1', '-0', '1e3', '0o7', '08', '0b1', 'NaN', 'Null', 'FALSE', 'on', '\\', '$', `\${x}`, 'a]', '\u3000a'],
  ...['2024-01-01T10:00:00Z', '99999999999999999999', '0x'],
] as const
const DOUBLE = ['', 'a', 'a b', 'a\\nb', '\\u00e9', 'a\\\n   b', 'a\n   b', 'a\n\n   b', '#', 'a: b', '- a', '{', '\\"']
const ODD_DOUBLE = [
  ...['\\x41', '\\/', '\\t', '\\ x', '\\U0001F600', '\\e', '\\0', '\\_', '\\N', 'a \n b', '---', 'a\n--- b', '\\u0085'],
  ...['\\ud800', '\\', 'a\t\\\n\n b'],
]
const SINGLE = ['', 'a', "it''s", 'a\n  b', 'a\n\n\n  b', '\\n', '#', 'a: b', 'a  \n  b', ' a ', '\ta']
const COMMENTS = ['', '', '', ' # c', '  #', ' #{"a":"b"}', '\t# t', ' # {"$imagepolicy": "a:b"}']
const ENDS = ['\n', '\n', '\n', '\n', '\n', '\n\n', '\n  \n', '\n# full\n', '\n   # in\n', '\r\n']
const SPACES = ['', '', ' ', '  ', '\n  ', '\n', '\t', ' # c\n  ']
const KEYS = [
  'a b',
  '"a"',
  "'b'",
  '? a\n',
  '&k k',
  '*a',
  '<<',
  '!!str a',
  '1',
  'true',
  'a.b/c',
  '""',
  'é',
  '[a]',
  '{a: b}',
]
const LINES = ['a', 'b c', '', '# c', '- x', 'k: v', ' ', '...', '---', '\té', 'x  ', ' more', '\u3000wide']

/**
 * Texts that are nearly always YAML, in every form that its scanner knows; the odd ones hold what readers disagree on.
 */
export class NoisyYaml {
  private readonly chance: Chance
  private readonly odd: boolean
  /** Those that were written, so that an alias nearly always has one. */
  private readonly anchors: string[] = []

  constructor(chance: Chance) {
    this.chance = chance
    this.odd = chance.is(30)
  }

  text(): string {
    const { chance } = this
    const start = chance.is(10) ? `---${chance.pick(['\n', ' ', ' # c\n', '\t\n'])}` : ''
    const text = start + this.document()
    if (!chance.is(15)) return text
    const separator = chance.pick(['---\n', '--- # x\n', '...\n', '---\nz: 1\n', '\n---\n\n...\n'])
    return `${text}${separator}${chance.is(50) ? this.map(0, 2) : ''}`
  }

  private document(): string {
    const kind = this.chance.upTo(9)
    if (kind < 7) return this.map(0, 3)
    if (kind < 9) return this.list(0, 3)
    return this.chance.is(50) ? `${this.flow(4)}\n` : this.value(-1, 2).trimStart()
  }

  /** `indent` spaces before each key. */
  private map(indent: number, depth: number): string {
    const { chance } = this
    const before = spaces(indent)
    const entries = chance.list(1, 4, index => {
      const mark = chance.is(this.odd ? 3 : 0) ? chance.pick(['? ', '- ', '\t', ' ']) : ''
      const colon = this.odd ? chance.pick([':', ':', ':', ':', ':', ' :', '']) : ':'
      return before + mark + this.key(index) + colon + this.value(indent, depth)
    })
    return entries.join('')
  }

  private list(indent: number, depth: number): string {
    const { chance } = this
    const entries = chance.list(1, 4, () => {
      const kind = chance.upTo(9)
      if (kind < 4) return ` ${this.map(indent + 2, depth - 1).trimStart()}`
      return kind === 4 ? ` ${this.list(indent + 2, depth - 1).trimStart()}` : this.value(indent, depth - 1)
    })
    return entries.map(entry => `${spaces(indent)}-${entry}`).join('')
  }

  private key(index: number): string {
    const { chance } = this
    if (this.odd && chance.is(10)) return chance.pick(KEYS)
    return `k${index}${chance.pick(['', '', 'x', ' y', '-z', '.w'])}`
  }

  /** What stands behind a colon or dash of a line that is indented so far. */
  private value(indent: number, depth: number): string {
    const { chance } = this
    const properties = this.properties(indent)
    const end = chance.pick(COMMENTS) + (chance.is(this.odd ? 3 : 0) ? '\n\t\n' : chance.pick(ENDS))
    const kind = depth <= 0 ? 0 : chance.upTo(19)
    if (kind < 6) return ` ${properties}${this.scalar(indent)}${end}`
    if (kind < 8) return ` ${properties}${this.flow(3)}${end}`
    if (kind < 10) return ` ${properties}${this.block(indent)}`
    if (kind < 11) return end
    const nested =
      kind < 15
        ? this.map(indent + chance.pick([1, 2, 2, 2, 4, 0]), depth - 1)
        : this.list(indent + chance.pick([0, 0, 2, 2, 1]), depth - 1)
    return (properties && ` ${properties}`) + end + nested
  }

  private properties(indent: number): string {
    const { chance } = this
    if (!chance.is(this.odd ? 40 : 20)) return ''
    if (!this.odd) {
      if (chance.is(30)) return '!!str '
      const anchor = chance.pick(['a', 'b'])
      this.anchors.push(anchor)
      return `&${anchor} `
    }
    return chance.pick(['&a ', '&b ', '!!str ', '!!map ', '!!seq ', '! ', `&a\n${spaces(indent + 2)}`])
  }

  private scalar(indent: number): string {
    const { chance } = this
    const kind = chance.upTo(9)
    if (kind < 4) return chance.pick(this.odd ? [...WORDS, ...ODD_WORDS] : WORDS)
    if (kind === 4) return `"${chance.pick(this.odd ? [...DOUBLE, ...ODD_DOUBLE] : DOUBLE)}"`
    if (kind === 5) return `'${chance.pick(SINGLE)}'`
    if (kind === 6) return `a\n${spaces(indent + 2)}b`
    if (kind === 7) return this.odd ? `a\n\n${spaces(indent + 1)}b # c` : `a\n\n${spaces(indent + 1)}b`
    if (this.odd) return chance.pick(['*a', '*b'])
    return this.anchors.length > 0 && kind === 8 ? `*${chance.pick(this.anchors)}` : 'plain text'
  }

  private flow(depth: number): string {
    const { chance } = this
    const space = (): string => chance.pick(SPACES)
    const kind = depth <= 0 ? 0 : chance.upTo(9)
    if (kind < 5) {
      const short = this.odd ? ['*a', '&a z', ''] : ['c']
      return kind < 3 ? chance.pick(['a', 'b', '1', 'x-y', ...short]) : this.scalar(0)
    }
    const end = chance.pick(['', '', ','])
    if (kind < 8) {
      const items = chance.list(0, 3, () => this.flow(depth - 1) + space())
      return `[${space()}${items.join(`,${space()}`)}${end}${space()}]`
    }
    const entries = chance.list(0, 3, index => {
      return this.key(index) + chance.pick([': ', ': ', ':', ' : ', ': \n ', '']) + this.flow(depth - 1) + space()
    })
    return `{${space()}${entries.join(`,${space()}`)}${end}${space()}}`
  }

  private block(indent: number): string {
    const { chance } = this
    const mark = chance.pick(['|', '>']) + chance.pick(['', '', '', '-', '+', '2', '1-', '+3'])
    const step = indent + chance.pick([1, 2, 2, 4])
    const lines = chance.list(0, 6, () => {
      const before = chance.pick(this.odd ? [step, step, step, step + 2, step - 1, 0] : [step, step, step + 2])
      return spaces(before) + chance.pick(LINES) + chance.pick(['\n', '\n', '\n', '\n\n', '\r\n'])
    })
    return `${mark}${chance.pick(['', '', ' # c', '  '])}${chance.pick(['\n', '\n', '\n\n', '\n   \n'])}${lines.join('')}`
  }
}

const spaces = (count: number): string => ' '.repeat(Math.max(0, count))
