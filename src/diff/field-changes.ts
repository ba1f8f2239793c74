import type { Node } from '../kube/node.ts'
import { visible } from '../message/visible.ts'
import type { FieldChange } from './changes.ts'
import type { Operation, PathStep } from './diff-nodes.ts'
import { isSecretName, valueText } from './field-value.ts'
import { isEmpty, leavesOf } from './leaves-of.ts'
import { lineChanges } from './line-changes.ts'
import type { SecretWords } from './secret-words.ts'

/**
 * Differences as they may be shown, one for each field: no value of a Secret, nothing encrypted, no credential and nothing
 * that only the cluster knows, nor how long it is or whether it equals another. What is inside of a Secret is named by its key.
 */
export function fieldChanges(operations: readonly Operation[], words: SecretWords): FieldChange[] {
  const found = new Map<string, FieldChange>()
  for (const operation of operations) {
    for (const leaf of leavesOf(operation)) {
      const field = fieldChange(leaf, words)
      const known = found.get(field.path)
      if (!known) found.set(field.path, field)
      else if (known.change !== field.change) found.set(field.path, { ...known, change: 'changed' })
    }
  }
  return [...found.values()]
}

function fieldChange(operation: Operation, words: SecretWords): FieldChange {
  const { path, was, now, sealing } = operation
  const change = was ? (now ? 'changed' : 'removed') : now ? 'added' : 'order'
  if (sealing.depth !== undefined) return sealedChange(path, sealing.depth, change, words)
  const where = { path: pathText(path, words), change } as const
  const hidden = { ...where, hidden: true } as const
  if (change === 'order') return where
  const [left, right] = [was && shownText(was, path, words), now && shownText(now, path, words)]
  if (left === null || right === null) return hidden
  const lines = was && now ? lineChanges(textOf(was), textOf(now), words) : undefined
  if (lines) return lines.length > 0 ? { ...where, lines } : hidden
  if (left !== undefined && left === right) {
    const isGenerated = was !== undefined && words.withoutHashes(textOf(was) ?? '') !== textOf(was)
    // what is left out of both is all that differs: a credential, or the hash of what an object holds
    return isGenerated ? { ...where, was: left, now: `${right} (its new content)` } : hidden
  }
  return { ...where, ...(left === undefined ? {} : { was: left }), ...(right === undefined ? {} : { now: right }) }
}

/** In a part of a Secret the key is told; what is below is a part of its value. */
function sealedChange(
  path: readonly PathStep[],
  depth: number,
  change: FieldChange['change'],
  words: SecretWords,
): FieldChange {
  const isKey = typeof path[depth] === 'string'
  const shown = path.slice(0, isKey ? depth + 1 : depth)
  const isWhole = path.length === shown.length && change !== 'order'
  return { path: pathText(shown, words), change: isWhole ? change : 'changed', hidden: true }
}

/** Null: it must not be shown. */
function shownText(node: Node, path: readonly PathStep[], words: SecretWords): string | null {
  if (node.type === 'scalar') {
    const isSecret = typeof node.value !== 'boolean' && node.value !== null && isSecretName(path)
    return isSecret ? null : (valueText(node, words) ?? null)
  }
  if (isEmpty(node)) return valueText(node, words) ?? null
  // in the place of something of another type: what it holds is not compared, so nothing of it is shown
  return node.type === 'map' ? `(a map of ${node.fields.size})` : `(a list of ${node.items.length})`
}

const textOf = (node: Node): string | undefined =>
  node.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined

const MAX_PATH = 300

/** `spec.template.spec.containers[web].image`, `metadata.annotations["example.com/a"]`. One line of plain text. */
function pathText(path: readonly PathStep[], words: SecretWords): string {
  let text = ''
  for (const step of path) {
    if (typeof step !== 'string') text += `[${step.label === undefined ? step.at : name(step.label, words)}]`
    else if (/^[\w-]+$/.test(step)) text += `${text === '' ? '' : '.'}${name(step, words)}`
    else text += `["${name(step, words)}"]`
  }
  return visible(text, MAX_PATH)
}

const name = (text: string, words: SecretWords): string =>
  visible(words.isIn(text) ? '***' : words.withoutHashes(text), 120)
