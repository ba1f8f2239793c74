import { countFindings } from '../../evaluate/verdict/group-findings.ts'
import type { SourceLine } from '../../origin.ts'
import type { EvaluatedNode, Verdict } from '../../rules/model/finding.ts'
import { groupFailures } from '../text/group-failures.ts'
import type { GraphNode } from './check-page.ts'
import { graphOf } from './graph-of.ts'

/** A Kustomization as the platform sees it: what it leads to, and what is wrong with it. The rest is absent on pages of older versions. */
export interface FleetGraphNode extends GraphNode {
  /** Namespaces of its objects, sorted; '' for objects without a namespace. */
  readonly namespaces?: readonly string[]
  /** How many more namespaces there are. */
  readonly moreNamespaces?: number
  /** Where its Kustomization is written. */
  readonly declared?: SourceLine
  /** Its open violations, by cause. */
  readonly open?: number
  /** Its open evaluation errors, by cause. */
  readonly failed?: number
}

/** Namespaces that are kept of one Kustomization. */
const MAX_NAMESPACES = 20

/** The Kustomizations of a fleet, parents first, with the namespaces of their objects: one in each step. */
export function* fleetGraphOf(nodes: readonly EvaluatedNode[], verdict: Verdict): Generator<void, FleetGraphNode[]> {
  const byKey = new Map(nodes.map(node => [node.key, node]))
  const isOpen = ({ state }: { readonly state: string }) => state === 'new'
  const open = Map.groupBy(verdict.violations.filter(isOpen), ({ node }) => node)
  const failed = Map.groupBy(verdict.errors.filter(isOpen), ({ node }) => node)
  const graph: FleetGraphNode[] = []
  for (const node of graphOf(nodes, undefined)) {
    yield
    const { objects = [], declared } = byKey.get(node.key) ?? {}
    const namespaces = namespacesOf(objects)
    graph.push({
      ...node,
      namespaces: namespaces.slice(0, MAX_NAMESPACES),
      moreNamespaces: Math.max(0, namespaces.length - MAX_NAMESPACES),
      ...(declared ? { declared } : {}),
      open: countFindings(open.get(node.key) ?? []),
      failed: groupFailures(failed.get(node.key) ?? []).length,
    })
  }
  return graph
}

function namespacesOf(objects: readonly string[]): string[] {
  const found = objects.map(text => {
    const { metadata }: { metadata?: { namespace?: unknown } | null } = JSON.parse(text)
    return typeof metadata?.namespace === 'string' ? metadata.namespace : ''
  })
  return [...new Set(found)].sort()
}
