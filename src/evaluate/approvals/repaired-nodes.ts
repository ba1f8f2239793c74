import { shownObject } from '../../facts/shown.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import type { Finding, RequiredApproval } from '../../rules/model/finding.ts'
import { leftOutOf } from '../applied/left-out.ts'

/**
 * Existing violations of what Flux refuses in the base, or of what hangs below it, and would apply after the change. They
 * stood in git only: whether they were ever applied is not known.
 */
export function repairedNodes(findings: readonly Finding[], head: Fleet, base: Fleet): RequiredApproval[] {
  const [now, before] = [new Map(refusedIn(head)), new Map(refusedIn(base))]
  if (before.size === 0) return []
  const found = findings.filter(
    ({ node, state, level }) => state === 'standing' && level === 'violation' && before.has(node) && !now.has(node),
  )
  const byCause = Map.groupBy(found, ({ node }) => before.get(node)!)
  return [...byCause].map(([{ namespace, name }, own]) => {
    const [{ rule, origin }] = own as [Finding]
    const causes = new Set(own.map(({ cause, fingerprint }) => cause ?? fingerprint)).size
    const what = causes === 1 ? '1 existing violation that stands' : `${causes} existing violations that stand`
    const message = `${shownObject('Kustomization', namespace, name)} builds again, so Flux may apply ${what} in it or below it for the first time`
    return { rule, path: origin.file, message }
  })
}

/** Each node that Flux refuses or that hangs below one, with the first of them. Parents come before their children. */
function* refusedIn({ nodes }: Fleet): Iterable<[string, FleetNode]> {
  const refused = new Map<string, FleetNode>()
  for (const node of nodes) {
    const above = node.parent === undefined ? undefined : refused.get(node.parent)
    const first = above ?? (leftOutOf(node).some(({ isFatal }) => isFatal) ? node : undefined)
    if (first === undefined) continue
    refused.set(node.key, first)
    yield [node.key, first]
  }
}
