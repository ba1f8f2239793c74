import type { Fleet } from '../fleet/fleet.ts'
import { refKey } from '../fleet/ref.ts'
import { type Assessed, assessNode, take } from './assess-node.ts'
import type { JudgedRepository } from './judged-repository.ts'
import type { Rule, RuleContext } from './rule.ts'
import type { RuleSet } from './rule-set.ts'

/** Something that rules are asked about: the same `about` and the same answers of the fleet give the same. */
export interface Part {
  readonly id: string
  readonly about: readonly unknown[]
  assess(context: RuleContext): Assessed
}

/** All that a fleet is asked about, in the order of what is said. `has`: whether the fleet has a node. */
export function* partsOf(
  rules: RuleSet,
  fleet: Fleet,
  before: Fleet | undefined,
  has: (key: string) => boolean,
): Generator<Part> {
  for (const node of fleet.nodes) {
    yield { id: `node ${node.key}`, about: [node], assess: context => assessNode(rules, node, context) }
  }
  for (const node of (rules.ofRemoved.length > 0 && before?.nodes) || []) {
    if (has(node.key)) continue
    const assess = said(rules.ofRemoved, (rule, context) => rule.checkRemoved!(node, context))
    yield { id: `removed ${node.key}`, about: [node], assess }
  }
  for (const cluster of fleet.clusters) {
    const assess = said(rules.ofClusters, (rule, context) => rule.checkCluster!(cluster, context))
    yield { id: `cluster ${cluster.name}`, about: [cluster], assess }
  }
  if (rules.ofRepositories.length === 0) return
  for (const [index, repository] of repositoriesOf(fleet, before).entries()) {
    const { url, tree, nodes, isFleet, before: earlier, brokenSeals = [] } = repository
    const assess = said(rules.ofRepositories, (rule, context) => rule.checkRepository!(repository, context))
    yield {
      id: `repository ${index}`,
      about: [url, tree.id, earlier?.id, isFleet, brokenSeals.join('\0'), ...nodes],
      assess,
    }
  }
}

type Check = (rule: Rule, context: RuleContext) => ReturnType<NonNullable<Rule['checkNode']>>

const said =
  (rules: readonly Rule[], check: Check): Part['assess'] =>
  context => {
    const all: Assessed = { findings: [], failures: [] }
    for (const rule of rules) take(rule, check(rule, context), context, all)
    return all
  }

function repositoriesOf(fleet: Fleet, before: Fleet | undefined): JudgedRepository[] {
  const old = new Map(before?.repositories.map(one => [followed(one), one.tree]))
  const readers = Map.groupBy(fleet.nodes, ({ source }) => followed(source))
  return fleet.repositories.map((one, index) => {
    const { url, ref, tree } = one
    const key = followed(one)
    const earlier = old.get(key)
    const brokenSeals = (fleet.brokenSeals ?? []).filter(seal => followed(seal) === key)
    const own = { nodes: readers.get(key) ?? [], brokenSeals: brokenSeals.map(seal => seal.file) }
    return { url, ref, tree, isFleet: index === 0, ...own, ...(earlier && { before: earlier }) }
  })
}

const known = new WeakMap<object, string>()

/** What is followed, as text; there are many more questions than sources. */
function followed(source: Pick<JudgedRepository, 'url' | 'ref'>): string {
  const before = known.get(source)
  if (before !== undefined) return before
  const key = `${source.url} ${refKey(source.ref)}`
  known.set(source, key)
  return key
}
