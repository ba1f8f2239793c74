import { isAbsent, writtenText } from '../../kube/edit-node.ts'
import type { ListNode, MapNode, Node, ScalarNode } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import { isPlainText } from './plain-text.ts'

/** The character with which a part was written; undefined for what was in no file. */
type CharAt = (origin: Origin) => string | undefined

/**
 * YAML as go-yaml writes a document that it has read, with the indentation that kustomize asks of it: brackets and quotes
 * stay, lists stand as far left as their key. Gives the name of what in the document we do not know how it writes.
 */
export function writeYaml(node: Node, charAt: CharAt): { readonly text: string } | string {
  const writer = new Writer(charAt)
  const text = writer.block(node, '')
  return writer.unknown ?? { text }
}

class Writer {
  unknown: string | undefined
  private readonly charAt: CharAt

  constructor(charAt: CharAt) {
    this.charAt = charAt
  }

  /** Lines of a value that stands on lines of its own; the first one without its indentation. */
  block(node: Node, indent: string): string {
    if (node.type === 'scalar' || this.isFlow(node)) return this.inline(node, indent, false)
    const parts = node.type === 'map' ? this.fields(node, indent) : this.items(node, indent)
    return parts.join(`\n${indent}`)
  }

  private fields(map: MapNode, indent: string): string[] {
    return [...map.fields].map(([key, { key: origin, value }]) => {
      const name = this.key(key, origin, false)
      if (value.type === 'scalar' || this.isFlow(value)) return `${name}:${spaced(this.inline(value, indent, false))}`
      const inner = value.type === 'list' ? indent : `${indent}  `
      return `${name}:\n${inner}${this.block(value, inner)}`
    })
  }

  private items(list: ListNode, indent: string): string[] {
    return list.items.map(item => `-${spaced(this.block(item, `${indent}  `))}`)
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
    const first = this.charAt(node.origin)
    if (node.quoted) return this.quoted(text, first === "'" ? "'" : '"')
    if (node.style === 'folded') return this.give('a folded text')
    if (node.style === 'literal' || text.includes('\n')) return this.literal(text, indent, flow)
    const isText = typeof node.value === 'string' && !node.untyped
    const resolved = resolvePlain(text)
    if (isText && resolved !== text && !(typeof resolved === 'string' && resolved === node.value)) {
      return this.quoted(text, '"')
    }
    if (isAbsent(node) && text === '' && flow) return this.give('an empty value between brackets')
    return isPlainText(text, flow) ? text : this.quoted(text, "'")
  }

  private key(text: string, origin: Origin, flow: boolean): string {
    const first = this.charAt(origin)
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
    if (flow || !isPrintable || / (?:\n|$)|^[\s]|\n\n$/.test(text)) return this.give('an unusual text of several lines')
    const lines = text.replace(/\n$/, '').split('\n')
    const body = lines.map(line => (line === '' ? '' : `${indent}  ${line}`)).join('\n')
    return `|${text.endsWith('\n') ? '' : '-'}\n${body}`
  }

  private isFlow(node: MapNode | ListNode): boolean {
    const size = node.type === 'map' ? node.fields.size : node.items.length
    const first = this.charAt(node.origin)
    return size === 0 || first === '{' || first === '['
  }

  private give(what: string): string {
    this.unknown ??= what
    return ''
  }
}

const spaced = (text: string): string => (text === '' ? '' : ` ${text}`)
