import { redactLines, visible } from '../../base/visible.ts'
import type { Node } from '../../kube/node.ts'
import type { FieldChange } from './changes.ts'
import { align, type Operation, type PathStep, type Sealing, sealingIn, sealingOf } from './diff-nodes.ts'
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

/** In a part of a Secret only the key is shown; what is below is part of its value. */
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

/** Maximum length of a shown value. */
const MAX_VALUE = 240

/** Names of fields, variables and keys whose values are credentials. */
const CREDENTIAL =
  /(?:pass(?:word|wd|phrase)?|pwd|token|secret|api[-_]?key|(?:private|access|account|secret)[-_]?key(?:[-_]?base)?|key-data|credentials?|htpasswd|dsn)$/i
/** A Secret that is the text of something else is a Secret. */
const ENCRYPTED = /ENC\[|-----BEGIN |AGE-SECRET-KEY-|\bkind\\?["']?\s{0,4}:\s{0,4}\\?["']?Secret\b/

/** Whether a value at a path is never shown, whatever it is. */
function isSecretName(path: readonly PathStep[]): boolean {
  const names = path.map(step => (typeof step === 'string' ? step : (step.label ?? '')))
  const last = names.at(-1) ?? ''
  // `env[DB_PASSWORD].value`
  return CREDENTIAL.test(last) || (last === 'value' && CREDENTIAL.test(names.at(-2) ?? ''))
}

/** The text of a scalar or an empty list or map; undefined where it holds a hidden value. */
export function valueText(node: Node, words: SecretWords): string | undefined {
  if (node.type === 'map') return '{}'
  if (node.type === 'list') return '[]'
  if (node.opaque) return undefined
  if (typeof node.value !== 'string') {
    const text = String(node.value)
    return words.isIn(text) ? undefined : text
  }
  if (ENCRYPTED.test(node.value) || words.isIn(node.value)) return undefined
  const text = redactLines(words.withoutHashes(node.value).split('\n')).join('\n')
  return visible(isAmbiguous(text) ? JSON.stringify(text) : text, MAX_VALUE)
}

/** Texts that would look like something else without quotes. */
function isAmbiguous(text: string): boolean {
  return text.trim() !== text || text === '' || /^(?:true|false|null|~|[-+.\d][\d.eE+_-]*|\{\}|\[\])$/.test(text)
}

const MAX_LINES = 40
const MAX_WIDTH = 160
const CONTEXT = 1

/**
 * Two texts of several lines as the lines that differ, each behind `+` or `-`, with the line before and behind them, at most
 * 40; undefined where neither has several. No line holds a credential: of such a line only the change is shown.
 */
function lineChanges(was: string | undefined, now: string | undefined, words: SecretWords): string[] | undefined {
  if (was === undefined || now === undefined || !/\n(?!$)/.test(was + now)) return undefined
  const [raw, rawNow] = [split(was), split(now)]
  const [before, after] = [shown(raw, words), shown(rawNow, words)]
  const { same } = align(before, after)
  const out: { mark: string; text: string }[] = []
  let [i, j] = [0, 0]
  for (const [nextI, nextJ] of [...same, [before.length, after.length] as const]) {
    while (i < nextI) out.push({ mark: '-', text: before[i++]! })
    while (j < nextJ) out.push({ mark: '+', text: after[j++]! })
    if (nextI < before.length && nextJ < after.length) out.push({ mark: ' ', text: before[nextI]! })
    ;[i, j] = [nextI + 1, nextJ + 1]
  }
  const near = (at: number) => out.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ mark }) => mark !== ' ')
  const nearby = out.filter((_, at) => near(at)).map(({ mark, text }) => `${mark} ${text}`)
  const isHidden = same.some(([at, other]) => raw[at] !== rawNow[other])
  if (isHidden) nearby.push('! further lines, not shown')
  const left = nearby.length - MAX_LINES
  return left > 0 ? [...nearby.slice(0, MAX_LINES), `  … and ${left} more lines`] : nearby
}

function split(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const shown = (lines: readonly string[], words: SecretWords): string[] =>
  redactLines(lines.map(line => words.withoutHashes(line))).map(line => visible(line, MAX_WIDTH))

/** Maximum number of leaves shown of what is added or removed as a whole. */
const MAX_LEAVES = 300

/** What is added or removed as a whole, as the fields that it has; anything else as it is. */
function leavesOf(operation: Operation): Operation[] {
  const { path, was, now, sealing } = operation
  const whole = was && now ? undefined : (was ?? now)
  if (!whole || whole.type === 'scalar' || isEmpty(whole)) return [operation]
  const leaves: Operation[] = []
  const walk = (node: Node, here: readonly PathStep[], within: Sealing): void => {
    if (leaves.length >= MAX_LEAVES) return
    if (node.type === 'scalar' || isEmpty(node)) {
      leaves.push({ path: here, sealing: within, ...(was ? { was: node } : { now: node }) })
    } else if (node.type === 'map') {
      const inside = sealingIn(within, [node])
      for (const [name, { value }] of [...node.fields].sort(([a], [b]) => (a < b ? -1 : 1))) {
        walk(value, [...here, name], sealingOf(inside, name, here.length + 1))
      }
    } else for (const [at, item] of node.items.entries()) walk(item, [...here, { at, ...labelOf(item) }], within)
  }
  walk(whole, path, sealing)
  return leaves
}

/** Whether it is a list or map with nothing in it. */
function isEmpty(node: Node): boolean {
  return (node.type === 'map' && node.fields.size === 0) || (node.type === 'list' && node.items.length === 0)
}

function labelOf(item: Node): { label?: string } {
  const name = item.type === 'map' ? item.fields.get('name')?.value : undefined
  return name?.type === 'scalar' && typeof name.value === 'string' && !name.opaque ? { label: name.value } : {}
}
