import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Finding } from '../../rules/model/finding.ts'

/**
 * What the base has and the head has not. Of a node that the head cannot see, because it or what would render it fails,
 * nobody knows: that is never fixed.
 */
export function fixedFindings(
  base: Fleet,
  head: Fleet,
  before: readonly Finding[],
  now: readonly Finding[],
): Finding[] {
  const present = new Set(now.map(one => one.fingerprint))
  const gone = before.filter(one => !present.has(one.fingerprint))
  if (gone.length === 0) return []
  const seen = new Map(head.nodes.map(node => [node.key, node.digest !== '']))
  const parents = new Map(base.nodes.map(node => [node.key, node.parent]))
  const isUnseen = (key: string) => {
    for (let here: string | undefined = key; here !== undefined; here = parents.get(here)) {
      const isSeen = seen.get(here)
      // who is seen and has not this child any more has removed it
      if (isSeen !== undefined) return !isSeen
    }
    return false
  }
  return gone.filter(one => !isUnseen(one.node)).map(one => ({ ...one, state: 'fixed' as const }))
}
