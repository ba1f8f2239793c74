import { BailiwickError } from '../../errors.ts'
import { at, type MapNode, type Node, type ScalarNode, stringAt } from '../../kube/node.ts'
import { isSealedValue } from '../../kube/sealed-values.ts'
import { containsPattern } from '../../kustomize/select/pattern.ts'
import type { SELECTIONS } from './sealing-rule.ts'

const MAX_STEPS = 1_000_000

type Spend = (what: 'steps', amount: number) => void

/** Which values of a document are encrypted, as what SOPS wrote beside them says. */
type BlockSelection = readonly {
  readonly field: (typeof SELECTIONS)[number]
  readonly test: (name: string) => boolean
}[]

/**
 * As SOPS reads it (getsops/sops, Tree.shouldBeEncrypted): without any, every value is encrypted; an expression that Go cannot
 * read matches nothing. Its tests throw `render-limits` where they take too long.
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
    if (error instanceof BailiwickError && error.code !== 'render-limits') return false
    throw error
  }
}
