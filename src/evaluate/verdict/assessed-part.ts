import { EvaluatedRepositories, followed } from '../../facts/evaluated-repositories.ts'
import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import type { Cluster, Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import type { Origin } from '../../origin.ts'
import type { Rule, RuleContext } from '../../rules/model/rule.ts'
import type { RuleSet } from '../../rules/rule-set.ts'
import { readersOf } from '../../rules/secrets/support/reader-of.ts'
import { type Assessed, assessNode, type CheckedPlace, take } from './assess-node.ts'
import { emptyFound, listed } from './finding-limits.ts'

/** Something that rules are asked about: the same `about` and the same answers of the fleet give the same. */
export interface AssessablePart {
  readonly id: string
  readonly about: readonly unknown[]
  /** The key of the node whose it is: of a repository the first one that reads it. */
  readonly node?: string | undefined
  assess(context: RuleContext): Assessed
}

/** A node and what it renders. */
export function nodePart(rules: RuleSet, node: FleetNode): AssessablePart {
  return { id: `node ${node.key}`, about: [node], node: node.key, assess: context => assessNode(rules, node, context) }
}

/** A node that `before` has and the fleet has not. */
export function removedPart(rules: RuleSet, node: FleetNode): AssessablePart {
  const place = { node, origin: node.kustomization.root.origin, content: node.digest }
  const assess = assessBy(rules.ofRemoved, (rule, context) => rule.checkRemoved!(node, context), place)
  return { id: `removed ${node.key}`, about: [node], assess }
}

export function clusterPart(rules: RuleSet, cluster: Cluster): AssessablePart {
  const assess = assessBy(rules.ofClusters, (rule, context) => rule.checkCluster!(cluster, context))
  return { id: `cluster ${cluster.name}`, about: [cluster], assess }
}

export function repositoryPart(rules: RuleSet, repository: EvaluatedRepository): AssessablePart {
  const { url, ref, tree, nodes, isFleet, before: earlier, brokenSeals = [] } = repository
  const place = (origin: Origin | undefined): CheckedPlace | undefined => {
    const node = readersOf(nodes, origin?.file ?? '')[0]
    const place = { repository: url, file: origin?.file ?? '', line: 1, column: 1 }
    return node && { node, origin: place, content: tree.id }
  }
  const assess = assessBy(rules.ofRepositories, (rule, context) => rule.checkRepository!(repository, context), place)
  const about = [
    url,
    tree.id,
    earlier?.id,
    isFleet,
    brokenSeals.map(({ file, why }) => `${why} ${file}`).join('\0'),
    ...nodes,
  ]
  return { id: `repository ${isFleet} ${followed({ url, ref })}`, about, node: nodes[0]?.key, assess }
}

/** All that a fleet is asked about, in the order of what is said. */
export function* partsOf(rules: RuleSet, fleet: Fleet, before: Fleet | undefined): Generator<AssessablePart> {
  const keys = new Set(fleet.nodes.map(node => node.key))
  for (const node of fleet.nodes) yield nodePart(rules, node)
  for (const node of before?.nodes ?? []) if (!keys.has(node.key)) yield removedPart(rules, node)
  for (const cluster of fleet.clusters) yield clusterPart(rules, cluster)
  if (rules.ofRepositories.length === 0) return
  const repositories = new EvaluatedRepositories(fleet, before)
  for (const index of fleet.repositories.keys()) yield repositoryPart(rules, repositories.at(index))
}

type Check = (rule: Rule, context: RuleContext) => ReturnType<NonNullable<Rule['checkNode']>>

const assessBy =
  (rules: readonly Rule[], check: Check, place?: Parameters<typeof take>[4]): AssessablePart['assess'] =>
  context => {
    const all = emptyFound('part')
    for (const rule of rules) take(rule, () => check(rule, context), context, all, place)
    return listed(all)
  }
