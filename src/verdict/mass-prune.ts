import { firstNames } from '../base/name-list.ts'
import { digestOfTexts } from '../fleet/model/same-node.ts'
import { display, groupOf, type ObjectId } from '../kube/object.ts'

/** The limits above which a prune waits for a person. */
export interface PruneLimits {
  /** Percent of what a node has on the cluster. */
  readonly share: number
  /** Fewer objects than this never are a share. */
  readonly atLeast: number
}

const PRUNE_LIMITS: PruneLimits = { share: 30, atLeast: 10 }

/** What would be deleted of a node now. */
export interface NodePrune {
  /** `<cluster>/<namespace>/<name>`. */
  readonly node: string
  readonly objects: readonly { readonly id: ObjectId; readonly uid: string }[]
  /** How many objects it has on the cluster, these included. */
  readonly had: number
  /** The node itself is gone. */
  readonly gone: boolean
}

interface MassPrune {
  /** Of exactly this set of objects; what a person approves. */
  readonly digest: string
  /** What would be deleted, and why that is much. */
  readonly what: string
  readonly reason: string
}

const NAMED = 5

/**
 * Which prunes wait until a fleet admin approves exactly this set of objects: more than a share of what a node has, and
 * every node of a namespace whose nodes are all gone, which is how a tenant vanishes. `present`: the nodes that remain.
 * Pure; by the key of the node. What is approved does not wait: by its digest, or node and each object by their prints.
 */
export function massPrunes(
  prunes: readonly NodePrune[],
  present: Iterable<string>,
  limits: PruneLimits = PRUNE_LIMITS,
  approved: ReadonlySet<string> = new Set(),
): Map<string, MassPrune> {
  const alive = new Set([...present].map(namespaceOf))
  const held = new Map<string, MassPrune>()
  for (const prune of prunes) {
    const vanished = prune.gone && !alive.has(namespaceOf(prune.node))
    const count = prune.objects.length
    const isShare = count >= limits.atLeast && count * 100 > prune.had * limits.share
    const digest = digestOf(prune)
    if ((!vanished && !isShare) || approved.has(digest) || prunePrints(prune).every(one => approved.has(one))) continue
    const what = whatOf(prune, vanished, limits)
    held.set(prune.node, { digest, what, reason: `${what} ${HOW}: /bailiwick approve-prune ${digest}` })
  }
  return held
}

const HOW = 'A fleet admin approves exactly these objects by a comment on an open issue or pull request of the fleet'

/**
 * A node and each object that it would have deleted, as short digests that are the same before the objects exist: what is
 * approved before a merge. Of the same length, and of another one than a digest of a set.
 */
export function prunePrints({ node, objects }: Pick<NodePrune, 'node' | 'objects'>): string[] {
  const print = (parts: readonly string[]) => digestOfTexts([JSON.stringify(parts)]).slice(0, PRINT)
  return [
    print([node]),
    ...objects.map(({ id }) => print([node, groupOf(id.apiVersion), id.kind, id.namespace, id.name])),
  ]
}

/** Hexadecimal digits of a print: 96 bits. */
export const PRINT = 24

function namespaceOf(node: string): string {
  return node.slice(0, node.lastIndexOf('/'))
}

function digestOf({ node, objects }: NodePrune): string {
  const texts = objects.map(({ id, uid }) => JSON.stringify([id.apiVersion, id.kind, id.namespace, id.name, uid]))
  return digestOfTexts([JSON.stringify(node), ...texts.sort()]).slice(0, 32)
}

function whatOf({ objects, had, node }: NodePrune, vanished: boolean, limits: PruneLimits): string {
  const kinds = new Map<string, number>()
  for (const { id } of objects) kinds.set(id.kind, (kinds.get(id.kind) ?? 0) + 1)
  const byKind = [...kinds].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([kind, n]) => `${n} ${kind}`)
  const names = objects.map(({ id }) => display(id)).sort()
  const what =
    objects.length === 0
      ? 'it would be forgotten'
      : `it would delete ${objects.length} of ${had} objects (${byKind.join(', ')}): ${firstNames(names, NAMED)}`
  const why = vanished
    ? `All Kustomizations of ${namespaceOf(node)} are removed at once`
    : `That is more than ${limits.share} % of what it has`
  return `${what}. ${why}.`
}
