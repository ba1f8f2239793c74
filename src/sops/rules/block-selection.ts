import { BailiwickError } from '../../errors.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { containsPattern } from '../../kustomize/select/pattern.ts'
import type { SELECTIONS } from './sealing-rule.ts'

const MAX_STEPS = 1_000_000

type Spend = (what: 'steps', amount: number) => void

/** Which values of a document are encrypted, as what SOPS wrote beside them says. */
export type BlockSelection = readonly {
  readonly field: (typeof SELECTIONS)[number]
  readonly test: (name: string) => boolean
}[]

/**
 * As SOPS reads it (getsops/sops, Tree.shouldBeEncrypted): without any, every value is encrypted; an expression that Go cannot
 * read matches nothing. Its tests throw `render-limits` where they take too long.
 */
export function selectionIn(block: Node): BlockSelection {
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
export function isSelected(selection: BlockSelection, path: readonly string[]): boolean {
  let selected = true
  for (const { field, test } of selection) {
    if (field === 'encrypted_comment_regex') selected = false
    else if (field === 'unencrypted_suffix' || field === 'unencrypted_regex') selected &&= !path.some(test)
    else if (field !== 'unencrypted_comment_regex') selected = path.some(test)
  }
  return selected
}

function matched(pattern: Parameters<typeof containsPattern>[0], name: string, spend: Spend): boolean {
  try {
    return containsPattern(pattern, name, { spend })
  } catch (error) {
    if (error instanceof BailiwickError && error.code !== 'render-limits') return false
    throw error
  }
}
