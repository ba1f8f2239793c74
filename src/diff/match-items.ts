import { canonical, type MapNode, type Node } from '../kube/node.ts'
import type { Schema } from '../kustomize/patch/merge-schema.ts'
import { align } from './align.ts'

/** Which items of two lists are the same item. `label`: what it is called by its keys. */
interface Matching {
  readonly pairs: readonly { readonly before: number; readonly after: number; readonly label?: string }[]
  readonly removed: readonly { readonly at: number; readonly label?: string }[]
  readonly added: readonly { readonly at: number; readonly label?: string }[]
  /** Items that both have come in another order, and that means something. */
  readonly reordered: boolean
}

/** Keys by which items of a list without a merge key are told apart, the first that every item has and none shares. */
const KEYS: readonly (readonly string[])[] = [
  ['kind', 'namespace', 'name'],
  ['name'],
  ['key'],
  ['containerPort', 'protocol'],
  ['port', 'protocol'],
  ['mountPath'],
  ['ip'],
  ['host'],
  ['path'],
  ['id'],
]
/** Kubernetes fills these in. */
const DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP', namespace: '' }
/** Lists of built-in kinds that are sets: no item is before another. */
const SETS = new Set(
  'rules verbs apiGroups resources resourceNames nonResourceURLs subjects accessModes policyTypes finalizers tolerations matchExpressions values ingress egress from to ports clusterRoleSelectors'.split(
    ' ',
  ),
)
/** They run one after the other. */
const SEQUENCES = new Set(['initContainers'])

/**
 * Finds the items of two lists that belong together: by the merge keys that Kubernetes has for the list, else by what names
 * its items, else by what they hold. In lists of built-in kinds a moved item is no change but where order has a meaning.
 */
export function matchItems(before: readonly Node[], after: readonly Node[], name: string, schema: Schema): Matching {
  for (const keys of schema?.keys?.length ? [schema.keys, ...KEYS] : KEYS) {
    const [a, b] = [identities(before, keys), identities(after, keys)]
    if (a && b) return byIdentity(a, b, schema === undefined || SEQUENCES.has(name))
  }
  const texts = [before.map(canonical), after.map(canonical)] as const
  const isSet = schema !== undefined && (schema.keys?.length === 0 || SETS.has(name))
  return isSet ? asSets(...texts) : asSequences(...texts)
}

/** What each item is called; undefined where an item has no such name or shares it. */
function identities(items: readonly Node[], keys: readonly string[]): readonly string[] | undefined {
  const names: string[] = []
  for (const item of items) {
    const name = item.type === 'map' ? identityOf(item, keys) : undefined
    if (name === undefined) return undefined
    names.push(name)
  }
  return new Set(names).size === names.length ? names : undefined
}

function identityOf(item: MapNode, keys: readonly string[]): string | undefined {
  const parts = keys.map((key, at) => {
    const value = item.fields.get(key)?.value
    if (value?.type === 'scalar' && value.value !== null && !value.opaque) return String(value.value)
    return at > 0 || keys.length === 1 ? DEFAULTS[key] : undefined
  })
  return parts.includes(undefined) ? undefined : parts.filter(part => part !== '').join('/')
}

function byIdentity(before: readonly string[], after: readonly string[], ordered: boolean): Matching {
  const places = new Map(after.map((name, at) => [name, at]))
  const known = new Set(before)
  const pairs = before.flatMap((label, at) => {
    const other = places.get(label)
    return other === undefined ? [] : [{ before: at, after: other, label }]
  })
  return {
    pairs,
    removed: before.flatMap((label, at) => (places.has(label) ? [] : [{ at, label }])),
    added: after.flatMap((label, at) => (known.has(label) ? [] : [{ at, label }])),
    reordered: ordered && pairs.some((pair, at) => at > 0 && pair.after < pairs[at - 1]!.after),
  }
}

/** Equal items first; what is left over is paired as it stands, so that a changed rule is not one removed and one added. */
function asSets(before: readonly string[], after: readonly string[]): Matching {
  const places = Map.groupBy(after.keys(), at => after[at]!)
  const removed: number[] = []
  const taken = new Set<number>()
  for (const [at, text] of before.entries()) {
    const other = places.get(text)?.shift()
    if (other === undefined) removed.push(at)
    else taken.add(other)
  }
  const added = [...after.keys()].filter(at => !taken.has(at))
  const both = Math.min(removed.length, added.length)
  const pairs = removed.slice(0, both).map((at, index) => ({ before: at, after: added[index]! }))
  return { pairs, ...only(removed.slice(both), added.slice(both)), reordered: false }
}

/** Only what stands between the same neighbours, as many on both sides, is an item that changed. */
function asSequences(before: readonly string[], after: readonly string[]): Matching {
  const { same, removed, added } = align(before, after)
  const pairs = same.map(([i, j]) => ({ before: i, after: j }))
  const rest: { removed: number[]; added: number[] } = { removed: [], added: [] }
  let [i, j] = [0, 0]
  for (const [nextI, nextJ] of [...same, [before.length, after.length] as const]) {
    const gone = removed.filter(at => at >= i && at < nextI)
    const come = added.filter(at => at >= j && at < nextJ)
    if (gone.length === come.length) pairs.push(...gone.map((at, index) => ({ before: at, after: come[index]! })))
    else {
      rest.removed.push(...gone)
      rest.added.push(...come)
    }
    ;[i, j] = [nextI + 1, nextJ + 1]
  }
  return { pairs, ...only(rest.removed, rest.added), reordered: false }
}

const only = (removed: readonly number[], added: readonly number[]) => ({
  removed: removed.map(at => ({ at })),
  added: added.map(at => ({ at })),
})
