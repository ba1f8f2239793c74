import { unlessRefused } from '../base/errors.ts'
import type { Step } from '../base/origin.ts'
import { redactLines, visible } from '../base/visible.ts'
import { at, type MapNode, type Node } from '../kube/node.ts'
import { parseText } from '../kube/yaml/parse-documents.ts'
import type { Finding } from '../rules/model/finding.ts'

/** More of a line is never shown. */
const WIDEST = 400
/** Begins a document, wherever it stands. */
export const SEPARATOR = /^---(?:\s|$)/
const SECRET_TEXT = /\bkind\b["']?\s*:\s*["']?Secret\b|\bsecretGenerator\b/

/**
 * The lines of a YAML file that may be shown to the readers of its repository, by index; undefined for a line that must not be: of a
 * document with a Secret, with a credential, with characters that hide or reorder text, or longer than 400 characters.
 */
export function shownLines(text: string): readonly (string | undefined)[] {
  const lines = text.split('\n')
  const secret = secretLines(text, lines)
  const redacted = redactLines(lines)
  return lines.map((line, index) => {
    const isShown = !secret.has(index) && redacted[index] === line && visible(line, WIDEST) === line
    return isShown ? line : undefined
  })
}

/** The same function, which remembers the answer for the last text: fixes of one file are made one after the other. */
export function ofLastText<T>(read: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly answer: T } | undefined
  return text => {
    if (last?.text !== text) last = { text, answer: read(text) }
    return last.answer
  }
}

/** Documents with a Secret, whole: what of them is a value is not guessed. */
function secretLines(text: string, lines: readonly string[]): ReadonlySet<number> {
  const all = new Set(lines.keys())
  const documents = documentsOf(text)
  // without documents the words decide
  if (!documents) return /secret/i.test(text) ? all : new Set()
  const found = documents.flatMap(node => (holdsSecret(node, 0) ? [node.origin.line - 1] : []))
  if (found.length === 0) return new Set()
  const starts = [0, ...lines.flatMap((line, index) => (SEPARATOR.test(line) ? [index] : []))]
  const startOf = (index: number) => starts.findLast(start => start <= index) ?? 0
  const hidden = new Set(found.map(startOf))
  return new Set([...all].filter(index => hidden.has(startOf(index))))
}

/** A Secret, a generator of Secrets, or a patch of one, at any depth. */
function holdsSecret(node: Node, depth: number): boolean {
  if (depth > 100) return true
  if (node.type === 'scalar') return typeof node.value === 'string' && SECRET_TEXT.test(node.value)
  if (node.type === 'list') return node.items.some(item => holdsSecret(item, depth + 1))
  return isSecret(node) || [...node.fields.values()].some(({ value }) => holdsSecret(value, depth + 1))
}

const CONTENT = ['apiVersion', 'metadata', 'data', 'stringData']
const PATCHED = /^\/(?:data|stringData)(?:\/|$)/

function isSecret(map: MapNode): boolean {
  if (map.fields.has('secretGenerator')) return true
  if (isText(at(map, ['target', 'kind']), 'Secret')) return true
  const path = at(map, ['path'])
  if (path?.type === 'scalar' && map.fields.has('op') && PATCHED.test(String(path.value))) return true
  return isText(at(map, ['kind']), 'Secret') && CONTENT.some(name => map.fields.has(name))
}

const isText = (node: Node | undefined, text: string) => node?.type === 'scalar' && node.value === text

/** Steps behind which the line that wrote a value holds something else than the value of the field. */
const MADE: ReadonlySet<Step['step']> = new Set([
  'generator',
  'transformer',
  'reference',
  'replacement',
  'substitution',
  'local-config',
])

/**
 * The field at the line that wrote the value of a finding, as a JSON pointer: `/spec/targetNamespace` of a Kustomization, where that
 * sets the namespace of an object. Undefined where the line holds something else than the value, such as a variable.
 */
export function writtenField({ field, via }: Pick<Finding, 'field' | 'via'>): string | undefined {
  if (via[0]?.step === 'flux-target-namespace') return '/spec/targetNamespace'
  return via.some(({ step }) => MADE.has(step)) ? undefined : field
}

/** The documents of a YAML file with their lines and columns; undefined if it cannot be read. */
export function documentsOf(text: string): readonly Node[] | undefined {
  return unlessRefused(
    undefined,
    () => parseText(text, (line, column) => ({ repository: '', file: '', line, column })).documents,
  )
}
