import { digestOfTexts } from '../fleet/model/digest.ts'
import { massPrunes, type PruneLimits, prunePrints } from './mass-prune.ts'
import type { PlannedPrune } from './planned-prunes.ts'

/** What a change deletes that waits for an approval. */
export interface ChangePrunes {
  /** Of exactly these objects of these nodes; what a fleet admin approves. */
  readonly digest: string
  /** By the key of the node: what is deleted, in one sentence. */
  readonly nodes: readonly { readonly node: string; readonly what: string }[]
  /** How many other nodes the readers are not told of. */
  readonly hidden: number
  /** Of nodes and objects, see prunePrints. */
  readonly prints: readonly string[]
  /** The fleet admin who approved them before the merge. */
  readonly approvedBy?: string
}

/** More do not fit into the record of an approval. */
export const MAX_PRINTS = 2_000

/**
 * Those of the planned prunes that a worker would hold back. `present`: keys of all nodes after the change. `isShown`:
 * whether the readers may see what comes from a repository.
 */
export function changePrunes(
  planned: readonly PlannedPrune[],
  present: Iterable<string>,
  limits: PruneLimits,
  isShown: (source: string) => boolean = () => true,
): ChangePrunes | undefined {
  const held = massPrunes(planned, present, limits)
  if (held.size === 0) return undefined
  const prunes = planned.filter(({ node }) => held.has(node)).sort((a, b) => (a.node < b.node ? -1 : 1))
  return {
    digest: digestOfTexts(prunes.map(({ node }) => held.get(node)!.digest)).slice(0, 32),
    nodes: prunes.filter(one => isShown(one.source)).map(({ node }) => ({ node, what: held.get(node)!.what })),
    hidden: prunes.filter(one => !isShown(one.source)).length,
    prints: prunes.flatMap(prunePrints),
  }
}

/** Of several fleets: one digest for all. */
export function combinedPrunes(all: readonly ChangePrunes[]): ChangePrunes | undefined {
  const [first] = all
  if (!first || all.length === 1) return first
  return {
    digest: digestOfTexts(all.map(({ digest }) => digest)).slice(0, 32),
    nodes: all.flatMap(({ nodes }) => nodes),
    hidden: all.reduce((sum, { hidden }) => sum + hidden, 0),
    prints: all.flatMap(({ prints }) => prints),
  }
}
