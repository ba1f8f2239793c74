import type { Chance } from './chance.ts'
import { Raw, type Value } from './value.ts'

const PLAIN = /^[A-Za-z_/][\w./-]*(?: [\w./-]+)*$/
const SPECIAL = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i

/** Writes values as people do: blocks and flows, quotes of both kinds, block scalars, comments, indented lists or not. */
export class YamlText {
  private readonly chance: Chance
  private readonly indentLists: boolean
  /** Out of a hundred values, how many are written in an unusual way. */
  private readonly odd: number

  constructor(chance: Chance, odd: number) {
    this.chance = chance
    this.odd = odd
    this.indentLists = chance.is(50)
  }

  documents(values: readonly Value[]): string {
    const texts = values.map(value => this.document(value))
    const separator = this.chance.is(this.odd)
      ? this.chance.pick(['--- \n', '---\n---\n', '---\n# c\n', '...\n---\n'])
      : '---\n'
    const start = this.chance.is(20) ? '---\n' : ''
    const end = this.chance.is(this.odd) ? this.chance.pick(['---\n', '\n\n', '...\n', '# end']) : ''
    return start + texts.join(separator) + end
  }

  document(value: Value): string {
    if (this.chance.is(this.odd / 4)) return `${this.flow(value)}\n`
    const body = this.block(value, '')
    return body.startsWith('\n') ? body.slice(1) : `${body.trimStart()}\n`
  }

  /** What follows a key's colon or a list's dash: ` scalar\n`-less text, or a line break and an indented block. */
  private block(value: Value, indent: string): string {
    if (this.chance.is(this.odd / 3)) return ` ${this.flow(value)}`
    if (Array.isArray(value)) {
      if (value.length === 0) return ' []'
      const inner = this.indentLists && indent !== '' ? `${indent}  ` : indent
      return `\n${value.map(item => `${inner}-${this.item(item, `${inner}  `)}`).join('')}`
    }
    if (value !== null && typeof value === 'object' && !(value instanceof Raw)) {
      const fields = Object.entries(value)
      if (fields.length === 0) return ' {}'
      return `\n${fields.map(([key, child]) => `${indent}${this.key(key)}:${this.line(this.block(child, this.inner(child, indent)), indent)}`).join('')}`
    }
    return this.scalar(value, indent)
  }

  /** A list below a key may stand at the key's own column. */
  private inner(child: Value, indent: string): string {
    if (!Array.isArray(child)) return `${indent}  `
    return this.indentLists ? `${indent}` : indent
  }

  private item(value: Value, indent: string): string {
    const text = this.block(value, indent)
    // the first line of a block starts beside the dash
    if (text.startsWith('\n') && !Array.isArray(value)) return ` ${text.slice(1 + indent.length)}`
    return text.startsWith('\n') ? `${text}` : `${text}\n`
  }

  private line(text: string, indent: string): string {
    if (text.startsWith('\n')) return this.chance.is(this.odd / 3) ? ` # note${text}` : text
    if (text.includes('\n')) return text
    if (this.chance.is(this.odd / 3)) return `${text} # note\n`
    return this.chance.is(this.odd / 6) ? `${text}\n${indent}# note\n` : `${text}\n`
  }

  private key(key: string): string {
    if (!PLAIN.test(key) || SPECIAL.test(key)) return JSON.stringify(key)
    return this.chance.is(this.odd / 4) ? this.chance.pick([`'${key}'`, `"${key}"`]) : key
  }

  private scalar(value: string | number | boolean | null | Raw, indent: string): string {
    if (value instanceof Raw) return value.text === '' ? '' : ` ${value.text}`
    if (value === null) return this.chance.pick([' null', ' ~', ''])
    if (typeof value !== 'string') return ` ${value}`
    if (/\n./.test(value) || (value.endsWith('\n') && this.chance.is(70))) return this.blockScalar(value, indent)
    if (this.chance.is(this.odd / 2)) return ` ${JSON.stringify(value)}`
    if (PLAIN.test(value) && !SPECIAL.test(value)) return ` ${value}`
    return this.chance.is(50) && !value.includes('\n')
      ? ` '${value.replaceAll("'", "''")}'`
      : ` ${JSON.stringify(value)}`
  }

  private blockScalar(value: string, indent: string): string {
    const lines = value.replace(/\n+$/, '').split('\n')
    const trailing = value.length - value.replace(/\n+$/, '').length
    if (/^\s/.test(value) || trailing > 1) return ` ${JSON.stringify(value)}`
    const inner = `${indent}  `
    const mark = trailing === 0 ? '|-' : '|'
    return ` ${mark}\n${lines.map(line => (line === '' ? '' : inner + line)).join('\n')}\n`
  }

  private flow(value: Value): string {
    if (Array.isArray(value)) return `[${value.map(item => this.flow(item)).join(', ')}]`
    if (value instanceof Raw) return value.text === '' ? 'null' : value.text
    if (value !== null && typeof value === 'object') {
      return `{${Object.entries(value)
        .map(([key, child]) => `${JSON.stringify(key)}: ${this.flow(child)}`)
        .join(', ')}}`
    }
    return JSON.stringify(value)
  }
}
