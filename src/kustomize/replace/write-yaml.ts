import { isAbsent, writtenText } from '../../kube/edit-node.ts'
import type { ListNode, MapNode, Node, ScalarNode } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Origin } from '../../origin.ts'
import { EmbeddedComments } from './embedded-comments.ts'
import { isPlainText } from './plain-text.ts'
import type { EmbeddedText, TextPlace } from './read-embedded.ts'

/** Where a part was written; undefined for what was in no text. */
type PlaceOf = (origin: Origin) => TextPlace | undefined

/**
 * YAML as go-yaml writes a document that it has read, with the indentation that kustomize asks of it: brackets, quotes
 * and comments stay, lists stand as far left as their key. Gives the name of what in the document we do not know how it
 * writes.
 */
export function writeYaml(node: Node, { text: before, placeOf }: EmbeddedText): { readonly text: string } | string {
  const comments = new EmbeddedComments(before)
  if (comments.unknown) return comments.unknown
  const writer = new Writer(placeOf, comments, before.split('\n'))
  const text = writer.block(node, '')
  if (writer.unknown) return writer.unknown
  return comments.allTaken ? { text } : 'comments between values'
}

class Writer {
  unknown: string | undefined
  private readonly placeOf: PlaceOf
  private readonly comments: EmbeddedComments
  private readonly lines: readonly string[]

  constructor(placeOf: PlaceOf, comments: EmbeddedComments, lines: readonly string[]) {
    this.placeOf = placeOf
    this.comments = comments
    this.lines = lines
  }

  /** Lines of a value that stands on lines of its own; the first one without its indentation. */
  block(node: Node, indent: string): string {
    if (node.type === 'scalar' || this.isFlow(node)) return this.inline(node, indent, false)
    const parts = node.type === 'map' ? this.fields(node, indent) : this.items(node, indent)
    return parts.join(`\n${indent}`)
  }

  private fields(map: MapNode, indent: string): string[] {
    return [...map.fields].map(([key, { key: origin, value }]) => {
      const place = this.placeOf(origin)
      const before = place ? this.comments.takeBefore(place.line, place.column) : []
      const name = this.key(key, origin, false)
      const lead = before.map(comment => `${comment}\n${indent}`).join('')
      if (value.type === 'scalar' || this.isFlow(value)) {
        return `${lead}${name}:${spaced(this.inline(value, indent, false))}${this.behind(value, origin)}`
      }
      const inner = value.type === 'list' ? indent : `${indent}  `
      const behind = place ? this.comments.takeBehind(place.line) : ''
      return `${lead}${name}:${behind}\n${inner}${this.block(value, inner)}`
    })
  }

  private items(list: ListNode, indent: string): string[] {
    return list.items.map(item => {
      const line = this.placeOf(item.origin)?.line ?? 0
      const dash = /^ *-/.exec(this.lines[line - 1] ?? '')?.[0].length
      const before = dash === undefined ? [] : this.comments.takeBefore(line, dash)
      const lead = before.map(comment => `${comment}\n${indent}`).join('')
      const text = this.block(item, `${indent}  `)
      const isInline = item.type === 'scalar' || this.isFlow(item)
      return `${lead}-${spaced(text)}${isInline ? this.behind(item, item.origin) : ''}`
    })
  }

  /** A comment behind a value that begins and ends on the line of its key. */
  private behind(value: Node, key: Origin): string {
    const place = this.placeOf(value.origin)
    const isBlock = value.type === 'scalar' && value.style !== undefined
    return place && !isBlock && place.line === this.placeOf(key)?.line ? this.comments.takeBehind(place.line) : ''
  }

  private inline(node: Node, indent: string, flow: boolean): string {
    if (node.type === 'scalar') return this.scalar(node, indent, flow)
    if (node.type === 'list') return `[${node.items.map(item => this.inline(item, indent, true)).join(', ')}]`
    const fields = [...node.fields].map(([key, { key: origin, value }]) => {
      return `${this.key(key, origin, true)}: ${this.inline(value, indent, true)}`
    })
    return `{${fields.join(', ')}}`
  }

  private scalar(node: ScalarNode, indent: string, flow: boolean): string {
    const text = writtenText(node)
    const first = this.placeOf(node.origin)?.first
    if (node.quoted) return this.quoted(text, first === "'" ? "'" : '"')
    if (node.style === 'folded') return this.give('folded text')
    if (node.style === 'literal' || text.includes('\n')) return this.literal(text, indent, flow)
    const isText = typeof node.value === 'string' && !node.untyped
    const resolved = resolvePlain(text)
    if (isText && resolved !== text && !(typeof resolved === 'string' && resolved === node.value)) {
      return this.quoted(text, '"')
    }
    if (isAbsent(node) && text === '' && flow) return this.give('an empty value inside brackets')
    return isPlainText(text, flow) ? text : this.quoted(text, "'")
  }

  private key(text: string, origin: Origin, flow: boolean): string {
    const first = this.placeOf(origin)?.first
    if (text.length > 100 || text === '') return this.give('a long or empty key')
    if (first === "'" || first === '"') return this.quoted(text, first)
    return isPlainText(text, flow) ? text : this.quoted(text, "'")
  }

  private quoted(text: string, quote: string): string {
    if (!/^[ -~\u00a0-\ud7ff]*$/.test(text)) return this.give('special characters in quotes')
    return quote === "'" ? `'${text.replaceAll("'", "''")}'` : `"${text.replace(/["\\]/g, '\\$&')}"`
  }

  private literal(text: string, indent: string, flow: boolean): string {
    const isPrintable = /^[\n -~\u00a0-\ud7ff]*$/.test(text)
    if (flow || !isPrintable || / (?:\n|$)|^[\s]|\n\n$/.test(text)) return this.give('unusual multi-line text')
    const lines = text.replace(/\n$/, '').split('\n')
    const body = lines.map(line => (line === '' ? '' : `${indent}  ${line}`)).join('\n')
    return `|${text.endsWith('\n') ? '' : '-'}\n${body}`
  }

  private isFlow(node: MapNode | ListNode): boolean {
    const size = node.type === 'map' ? node.fields.size : node.items.length
    const first = this.placeOf(node.origin)?.first
    return size === 0 || first === '{' || first === '['
  }

  private give(what: string): string {
    this.unknown ??= what
    return ''
  }
}

const spaced = (text: string): string => (text === '' ? '' : ` ${text}`)
