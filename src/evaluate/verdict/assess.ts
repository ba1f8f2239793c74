import { FleetIndex } from '../../facts/fleet-index.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Finding, NodeFailure } from '../../rules/model/finding.ts'
import type { RuleContext } from '../../rules/model/rule.ts'
import { rules } from '../../rules/registry.ts'
import { RuleSet } from '../../rules/rule-set.ts'
import { isBuilt } from '../applied/left-out.ts'
import type { Assessed } from './assess-node.ts'
import { partsOf } from './assessed-part.ts'
import { emptyFound, listed } from './finding-limits.ts'
import { unknownRules } from './unknown-rules.ts'

/** What the rules say about a fleet by itself: every state is `new` until it is compared. */
export interface Assessment {
  readonly findings: readonly Finding[]
  readonly failures: readonly NodeFailure[]
  /** Of a node of which nothing could be built: what it read. A change of it may hide anything behind the same finding. */
  readonly inputs: ReadonlyMap<string, string>
}

/** How a fleet is assessed; whoever remembers earlier answers gives the same ones as `assess`. */
export type Assess = (fleet: Fleet, before?: Fleet) => Assessment

/** Asks every rule that is switched on; `before` is for what only a change can break. Pure and deterministic. */
export function assess(fleet: Fleet, before?: Fleet): Assessment {
  const context: RuleContext = {
    index: new FleetIndex(fleet),
    config: fleet.config,
    ...(before ? { before: new FleetIndex(before) } : {}),
  }
  const set = new RuleSet(rules, fleet.disabledRules)
  const parts = partsOf(set, fleet, before)
  return assessmentOf(
    fleet,
    [...parts].map(part => part.assess(context)),
  )
}

/** What was said about all parts of a fleet, as one. */
export function assessmentOf(fleet: Fleet, parts: Iterable<Assessed>): Assessment {
  const results = emptyFound('tenant')
  for (const one of unknownRules(fleet, rules)) results.failures.add(one)
  for (const { findings, failures } of parts) {
    for (const one of findings) results.findings.add(one)
    for (const one of failures) results.failures.add(one)
  }
  const inputs = new Map<string, string>()
  for (const node of fleet.nodes) if (node.error && !isBuilt(node)) inputs.set(node.key, node.inputs ?? '')
  const all = listed(results)
  return { findings: unique(all.findings), failures: unique(all.failures), inputs }
}

function unique<T extends Finding | NodeFailure>(items: readonly T[]): T[] {
  const keyOf = ({ node, fingerprint, hides }: T) => `${node} ${fingerprint} ${hides ?? ''}`
  return [...new Map([...items].reverse().map(item => [keyOf(item), item])).values()].reverse()
}
