import type { Fleet } from '../fleet/fleet.ts'
import { refKey } from '../fleet/ref.ts'
import { type Assessed, assessNode, take } from './assess-node.ts'
import type { Finding, NodeFailure } from './finding.ts'
import { FleetIndex } from './fleet-index.ts'
import type { JudgedRepository } from './judged-repository.ts'
import { rules } from './registry.ts'
import type { RuleContext } from './rule.ts'
import { RuleSet } from './rule-set.ts'
import { unknownRules } from './unknown-rules.ts'

/** What the rules say about a fleet by itself: every state is `new` until it is compared. */
export interface Assessment {
  readonly findings: readonly Finding[]
  readonly failures: readonly NodeFailure[]
  /** Of a node whose rendering failed: what it read. A change of it may hide anything behind the same error. */
  readonly inputs: ReadonlyMap<string, string>
}

/** Asks every rule that is switched on; `before` is for what only a change can break. Pure and deterministic. */
export function assess(fleet: Fleet, before?: Fleet): Assessment {
  const context: RuleContext = {
    index: new FleetIndex(fleet),
    config: fleet.config,
    ...(before ? { before: new FleetIndex(before) } : {}),
  }
  const set = new RuleSet(rules, fleet.disabledRules)
  const said: Assessed = { findings: [], failures: unknownRules(fleet, rules) }
  for (const node of fleet.nodes) {
    const { findings, failures } = assessNode(set, node, context)
    said.findings.push(...findings)
    said.failures.push(...failures)
  }
  for (const node of before?.nodes ?? []) {
    if (context.index.node(node.key)) continue
    for (const rule of set.ofRemoved) take(rule, rule.checkRemoved!(node, context), context, said)
  }
  for (const cluster of fleet.clusters)
    for (const rule of set.ofClusters) take(rule, rule.checkCluster!(cluster, context), context, said)
  for (const repository of repositoriesOf(fleet, before))
    for (const rule of set.ofRepositories) take(rule, rule.checkRepository!(repository, context), context, said)
  const inputs = new Map(fleet.nodes.flatMap(node => (node.error ? ([[node.key, node.inputs ?? '']] as const) : [])))
  return { findings: unique(said.findings), failures: unique(said.failures), inputs }
}

function repositoriesOf(fleet: Fleet, before: Fleet | undefined): JudgedRepository[] {
  const old = new Map(before?.repositories.map(one => [`${one.url} ${refKey(one.ref)}`, one.tree]))
  const readers = Map.groupBy(fleet.nodes, ({ source }) => `${source.url} ${refKey(source.ref)}`)
  return fleet.repositories.flatMap(({ url, ref, tree }, index) => {
    const key = `${url} ${refKey(ref)}`
    const nodes = readers.get(key) ?? []
    const earlier = old.get(key)
    return [{ url, ref, tree, nodes, isFleet: index === 0, ...(earlier ? { before: earlier } : {}) }]
  })
}

function unique<T extends { readonly node: string; readonly fingerprint: string }>(items: readonly T[]): T[] {
  return [...new Map([...items].reverse().map(item => [`${item.node} ${item.fingerprint}`, item])).values()].reverse()
}
