import { at, type MapNode, type Node } from '../kube/node.ts'
import { redactLines } from '../message/redact.ts'
import { visible } from '../message/visible.ts'
import { documentsOf } from './documents-of.ts'

/** More of a line is never shown. */
const WIDEST = 400
const SEPARATOR = /^---(?:\s|$)/
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
