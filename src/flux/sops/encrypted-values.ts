import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { containsPattern } from '../../expr/regexp/pattern.ts'
import {
  at,
  type ListNode,
  type MapNode,
  mapNode,
  type Node,
  type ScalarNode,
  stringAt,
  textNode,
  withField,
} from '../../kube/node.ts'
import { isSealedValue } from '../../kube/sops.ts'
import type { SELECTIONS } from './creation-rule.ts'

const MAX_STEPS = 1_000_000

type Spend = (what: 'steps', amount: number) => void

/** Which values of a document are encrypted, as what SOPS wrote beside them says. */
type BlockSelection = readonly {
  readonly field: (typeof SELECTIONS)[number]
  readonly test: (name: string) => boolean
}[]

/**
 * As SOPS reads it (getsops/sops, Tree.shouldBeEncrypted): without any, every value is encrypted; an expression that Go cannot
 * read matches nothing. Its tests throw `render-limits` where they take too long, and for what only Go reads.
 */
function selectionIn(block: Node): BlockSelection {
  let left = MAX_STEPS
  const spend: Spend = (_what, amount) => {
    left -= amount
    if (left < 0) throw new BailiwickError('render-limits', 'its expressions take too long')
  }
  return ORDER.flatMap(field => {
    const text = stringAt(block, [field])
    if (!text) return []
    const origin = at(block, [field])!.origin
    const known = new Map<string, boolean>()
    const test = (name: string) => {
      const found =
        known.get(name) ?? (field.endsWith('regex') ? matched({ text, origin }, name, spend) : name.endsWith(text))
      known.set(name, found)
      return found
    }
    return [{ field, test }]
  })
}

/** Each decides again, as in SOPS; comments are gone when an object is built. */
const ORDER = [
  'unencrypted_suffix',
  'encrypted_suffix',
  'unencrypted_regex',
  'encrypted_regex',
  'unencrypted_comment_regex',
  'encrypted_comment_regex',
] as const satisfies typeof SELECTIONS extends readonly (infer F)[] ? readonly F[] : never

/** Whether the value at a path is encrypted: one name on the way decides. */
function isSelected(selection: BlockSelection, path: readonly string[]): boolean {
  let selected = true
  for (const { field, test } of selection) {
    if (field === 'encrypted_comment_regex') selected = false
    else if (field === 'unencrypted_suffix' || field === 'unencrypted_regex') selected &&= !path.some(test)
    else if (field !== 'unencrypted_comment_regex') selected = path.some(test)
  }
  return selected
}

/** A value of a document, its place as SOPS names it, and what the document says of it. */
export interface SopsValue {
  readonly node: ScalarNode
  readonly place: readonly string[]
  readonly isSealed: boolean
  readonly isSelected: boolean
}

/** The values of an encrypted document that it does not hold as it says: SOPS refuses an open one, and leaves the other. */
export function* misplacedValues(root: MapNode): Iterable<SopsValue> {
  for (const one of sopsValues(root)) if (one.isSealed !== one.isSelected) yield one
}

/** Every value of an encrypted document but nothings, which are never encrypted. */
export function* sopsValues(root: MapNode): Iterable<SopsValue> {
  const block = root.fields.get('sops')?.value
  const selection = block ? selectionIn(block) : []
  for (const [name, { value }] of root.fields) if (name !== 'sops') yield* valuesBelow(value, [name], selection)
}

function* valuesBelow(node: Node, place: readonly string[], selection: BlockSelection): Iterable<SopsValue> {
  if (node.type === 'list') for (const item of node.items) yield* valuesBelow(item, place, selection)
  else if (node.type === 'map')
    for (const [name, { value }] of node.fields) yield* valuesBelow(value, [...place, name], selection)
  else if (node.value !== null && node.value !== '') {
    const isSealed = typeof node.value === 'string' && isSealedValue(node.value)
    yield { node, place, isSealed, isSelected: isSelected(selection, place) }
  }
}

function matched(pattern: Parameters<typeof containsPattern>[0], name: string, spend: Spend): boolean {
  try {
    return containsPattern(pattern, name, { spend })
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'kustomize-invalid') return false
    throw error instanceof BailiwickError ? new BailiwickError('render-limits', error.message, { cause: error }) : error
  }
}

/** A line of a file of names and values; a comment has no name, what is neither is a value without one. */
interface Entry {
  readonly path: readonly string[]
  readonly value: string
  readonly line: number
}

/**
 * A file of names and values as the document that SOPS makes of it (getsops/sops, stores/dotenv and stores/ini): what it wrote
 * beside the values is the map `sops`. Undefined: SOPS encrypted nothing of it.
 */
export function readFlatFile(file: Pick<Origin, 'repository' | 'file'>, text: string): MapNode | undefined {
  const [block, values] = [new Branch(), new Branch()]
  for (const { path, value, line } of entriesOf(file.file, text)) {
    const origin = { ...file, line, column: 1 }
    const [first = '', name = ''] = path
    if (first === 'sops' && name !== '') block.add(stepsOf(name), textNode(value.replaceAll('\\n', '\n'), origin))
    else if (path.length > 0) values.add(path, textNode(value, origin))
  }
  const start = { ...file, line: 1, column: 1 }
  const [root, sops] = [values.node(start), block.node(start, true)]
  if (root.type !== 'map' || sops.type !== 'map' || !sops.fields.has('mac')) return undefined
  return withField(root, 'sops', sops)
}

/** The values of such a file beside what SOPS wrote, comments too. */
export const flatValues = (file: string, text: string): readonly string[] =>
  [...entriesOf(file, text)].filter(({ path }) => path[0] !== 'sops').map(({ value }) => value)

const entriesOf = (file: string, text: string): Iterable<Entry> =>
  file.endsWith('.ini') ? iniEntries(text) : dotenvEntries(text)

function* dotenvEntries(text: string): Iterable<Entry> {
  for (const [index, written] of text.split('\n').entries()) {
    const equals = written.startsWith('#') ? 0 : written.indexOf('=')
    const [name, value, line] = [written.slice(0, Math.max(0, equals)), written.slice(equals + 1), index + 1]
    if (name.startsWith('sops_')) yield { path: ['sops', name.slice('sops_'.length)], value, line }
    else if (written !== '') yield { path: name === '' ? [] : [name], value, line }
  }
}

function* iniEntries(text: string): Iterable<Entry> {
  let section = 'DEFAULT'
  for (const [index, written] of text.split('\n').entries()) {
    const trimmed = written.trim()
    const equals = /^[#;]/.test(trimmed) ? 0 : trimmed.indexOf('=')
    const [name, value, line] = [
      trimmed.slice(0, Math.max(0, equals)).trim(),
      trimmed.slice(equals + 1).trim(),
      index + 1,
    ]
    if (/^\[.*\]$/.test(trimmed)) section = trimmed.slice(1, -1)
    else if (trimmed !== '') yield { path: name === '' ? [] : [section, name], value, line }
  }
}

/** More than SOPS nests. */
const MAX_FLAT_STEPS = 16

/** `age__list_0__map_enc`: the way to a value of the block (stores/flatten.go). */
const stepsOf = (name: string): string[] => name.split(/__(?:list|map)_/, MAX_FLAT_STEPS)

/** Where all names are indexes, a list. */
class Branch {
  readonly #parts = new Map<string, Branch | Node>()

  add([step = '', ...rest]: readonly string[], value: Node): void {
    const part = this.#parts.get(step)
    if (rest.length === 0) this.#parts.set(step, value)
    else if (part instanceof Branch) part.add(rest, value)
    else {
      const branch = new Branch()
      branch.add(rest, value)
      this.#parts.set(step, branch)
    }
  }

  node(nowhere: Origin, hasLists = false): MapNode | ListNode {
    const parts = [...this.#parts].map(
      ([name, part]) => [name, part instanceof Branch ? part.node(nowhere, hasLists) : part] as const,
    )
    const origin = parts[0]?.[1].origin ?? nowhere
    const isList = hasLists && parts.length > 0 && parts.every(([name]) => /^\d+$/.test(name))
    return isList ? { type: 'list', items: parts.map(([, part]) => part), origin } : mapNode(parts, origin)
  }
}
