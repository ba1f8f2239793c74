import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { at, type Field, type Node, type ScalarValue } from '../../kube/node.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import { quotedIn } from '../../kube/yaml/scan-scalars.ts'
import { type Emitted, type Plain, readPlain } from './emit-scalar.ts'
import { INJECTION, TemplateError } from './variables.ts'

/** What a scalar became by substitution: a scalar, or text of its own that only a YAML parser understands. */
type Reading =
  | { readonly type: 'scalar'; readonly value: ScalarValue; readonly float?: boolean }
  | { readonly type: 'fragment'; readonly text: string }

/** Where a scalar stands; only an item of a list may become a map without braces. */
export type ScalarPosition = 'value' | 'item' | 'key'

/**
 * Reads the text of one scalar back after substitution, as YAMLToJSON of sigs.k8s.io/yaml reads it where it stands: the
 * value decides whether a plain one becomes a number, a boolean, null or something with a structure. Throws
 * TemplateError for what Flux refuses, and for text that reaches beyond the scalar.
 */
export function readScalar({ text, style }: Emitted, position: ScalarPosition, indent: number): Reading {
  checkCharacters(text)
  if (style === 'plain') return plain(text, position)
  if (style !== 'literal') return quoted(text)
  const value = readLiteral(text, indent)
  if (value !== undefined) return { type: 'scalar', value }
  throw beyond('a value changes how a text block is indented')
}

/** A value of a plain scalar by itself. Throws TemplateError for what JSON cannot hold. */
function plainValue(plain: Plain, text: string): { value: ScalarValue; float?: boolean } {
  if (plain.type === 'infinite') throw new TemplateError('a value becomes a number that JSON cannot hold')
  if (plain.type === 'null') return { value: null }
  if (plain.type === 'number') return { value: plain.value, float: plain.float }
  return { value: plain.type === 'boolean' ? plain.value : text }
}

const CONTROL = /[^\P{Cc}\t\n\r\x85]|[\ufffe\uffff]/u
const BREAK = /[\r\x85\u2028\u2029\ufeff]/

function checkCharacters(text: string): void {
  if (CONTROL.test(text)) throw new TemplateError('a value has a control character, which YAML does not allow')
  if (BREAK.test(text)) throw beyond('a value has a line break of its own')
}

function quoted(text: string): Reading {
  // what the scanner reports may be about the value, which may be a secret
  const read = unlessRefused(undefined, () => quotedIn(text))
  if (read && /^(?:[ \t]*|[ \t]+#[^\n]*)$/.test(read.rest)) return { type: 'scalar', value: read.value }
  throw beyond('a value ends a quoted text, or does not end it')
}

function plain(text: string, position: ScalarPosition): Reading {
  const lines = text.split('\n')
  if (lines.length > 1) return { type: 'scalar', ...folded(lines, position) }
  if (text.startsWith('\t') || (position === 'key' && /^ |^$/.test(text))) throw beyond('a value moves what follows it')
  const bare = withoutComment(text, position).replace(/^[ \t]+|[ \t]+$/g, '')
  if (bare.startsWith('"') || bare.startsWith("'")) return quoted(bare)
  if (!isPlain(bare)) {
    if (position === 'key') throw beyond('a key with characters of YAML itself')
    return { type: 'fragment', text: bare }
  }
  return { type: 'scalar', ...plainValue(readPlain(bare), bare) }
}

function withoutComment(text: string, position: ScalarPosition): string {
  const comment = /(?:^|[ \t])#/.exec(text)
  if (comment && position === 'key') throw beyond('a value makes a comment of what follows a key')
  return comment ? text.slice(0, comment.index) : text
}

/** Lines of a plain scalar that was broken because it is long. */
function folded(lines: readonly string[], position: ScalarPosition): { value: ScalarValue; float?: boolean } {
  const parts: string[] = []
  let breaks = 0
  for (const line of lines.map(one => one.replace(/^ +| +$/g, ''))) {
    if (line === '') {
      if (parts.length > 0) breaks++
      continue
    }
    if (parts.length > 0) parts.push(breaks === 0 ? ' ' : '\n'.repeat(breaks))
    parts.push(line)
    breaks = 0
    if (line.startsWith('#') || /[\t]| #|: |:$/.test(line)) throw beyond('a value with characters of YAML itself')
  }
  const text = parts.join('')
  if (position === 'key' || !isPlain(parts[0] ?? '')) throw beyond('a value with characters of YAML itself')
  return plainValue(readPlain(text), text)
}

/** Whether a line without spaces around it is a plain scalar, and nothing but that, in a block. */
function isPlain(text: string): boolean {
  if (/^[,[\]{}&*!|>'"%@`]/.test(text) || /^[-?:](?:[ \t]|$)/.test(text)) return false
  return !/:(?:[ \t]|$)/.test(text)
}

function beyond(what: string): TemplateError {
  return new TemplateError(`${what}: more than one value changes`, 'flux-unsupported', INJECTION)
}

/**
 * The value of a literal block scalar, header and lines, whose lines are indented by `indent`, as go-yaml v2 reads it.
 * Undefined where its first lines would make it take another indent, or where it ends early.
 */
function readLiteral(text: string, indent: number): string | undefined {
  const [header = '', ...lines] = text.split('\n')
  if (!header.includes('2') && !keepsIndent(lines, indent)) return undefined
  const out: string[] = []
  let breaks = ''
  for (const line of lines) {
    if (/^ *$/.test(line) && line.length <= indent) {
      breaks += '\n'
      continue
    }
    if (!line.startsWith(' '.repeat(indent))) return undefined
    out.push(breaks, line.slice(indent))
    breaks = '\n'
  }
  if (header.endsWith('+')) return out.join('') + breaks
  return header.endsWith('-') || out.length === 0 ? out.join('') : `${out.join('')}\n`
}

/** Without a hint the indent is that of the first line with text, or of a longer blank line before it. */
function keepsIndent(lines: readonly string[], indent: number): boolean {
  const first = lines.findIndex(line => !/^ *$/.test(line))
  const before = first < 0 ? lines : lines.slice(0, first)
  if (before.some(line => line.length > indent)) return false
  return first < 0 || /^ *(?![ \t])/.exec(lines[first]!)?.[0].length === indent
}

/**
 * The value of a text of one line that is more than a scalar, such as `{a: b}`, where it stands: in a list also `a: b`
 * is a map. Every part of it was written at `origin`. Throws TemplateError for what is invalid YAML there, or may
 * be read differently by go-yaml v2.
 */
export function readFragment(text: string, position: ScalarPosition, origin: Origin): Node {
  const whole = parse(position === 'item' ? `- ${text}\n` : `k: ${text}\n`, origin)
  const alone = whole?.type === 'list' ? whole.items.length === 1 : whole?.type === 'map' && whole.fields.size === 1
  const node = at(whole, position === 'item' ? [0] : ['k'])
  if (node && alone) return read(node)
  throw new TemplateError('a value becomes more than one value of YAML', 'flux-unsupported', INJECTION)
}

function parse(text: string, origin: Origin): Node | undefined {
  try {
    const { documents } = parseText(text, () => origin)
    return documents.length === 1 ? documents[0] : undefined
  } catch (error) {
    // what the parser says may be about the value, which may be a secret
    if (!(error instanceof BailiwickError)) throw error
    if (error.code === 'yaml-syntax') {
      throw new TemplateError('a value becomes text that is no YAML', 'flux-invalid', INJECTION)
    }
    throw new TemplateError('a value becomes YAML that not every reader understands', 'flux-unsupported', INJECTION)
  }
}

/** The same values as go-yaml v2 resolves them. */
function read(node: Node): Node {
  if (node.type === 'list') return { ...node, items: node.items.map(read) }
  if (node.type === 'scalar') {
    if (node.quoted || node.style) return node
    const text = node.text ?? String(node.value)
    return { type: 'scalar', value: plainValue(readPlain(text), text).value, origin: node.origin }
  }
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    if (readPlain(key).type !== 'text')
      throw new TemplateError('a value contains a key that is not a string', 'flux-unsupported')
    fields.set(key, { key: field.key, value: read(field.value) })
  }
  return { ...node, fields }
}
