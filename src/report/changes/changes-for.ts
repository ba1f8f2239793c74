import { type Changes, type FieldChange, type NodeChange, type RightChange, sumCounts } from '../../diff/changes.ts'
import type { EvaluatedNode, Verdict } from '../../rules/model/finding.ts'
import { PrivateWords } from '../text/private-words.ts'

/**
 * Of what a change does, what the repository of the tenants `audience` may be shown: what its own Kustomizations and accounts
 * get, in words that name nothing of others; Kustomizations of others are counted, never named. Without an audience everything.
 */
export function changesFor(
  changes: Changes,
  audience: readonly string[] | undefined,
  verdict: Verdict,
  nodes: readonly EvaluatedNode[],
): Changes {
  if (audience === undefined) return changes
  const words = new PrivateWords(verdict, audience, nodes)
  const hide = (text: string) => words.hide(text)
  const mine = changes.nodes.filter(node => audience.includes(node.tenant))
  const own = mine.map(node => ownNode(node, hide))
  return {
    nodes: own,
    rights: changes.rights.filter(right => audience.includes(right.tenant)).map(right => ownRight(right, hide)),
    tenants: changes.tenants.filter(tenant => audience.includes(tenant.name)),
    clusters: [],
    totals: sumCounts(own.map(node => node.counts)),
    hidden: changes.nodes.length - mine.length + changes.left.nodes,
    left: { ...changes.left, nodes: 0, clusters: 0 },
  }
}

function ownNode(node: NodeChange, hide: (text: string) => string): NodeChange {
  const { identity } = node
  return {
    ...node,
    ...(identity ? { identity: { was: hide(identity.was), now: hide(identity.now) } } : {}),
    objects: node.objects.map(object => ({
      ...object,
      // it may be another tenant's
      ...(object.node === undefined ? {} : { node: hide(object.node) }),
      fields: object.fields.map(field => ownField(field, hide)),
    })),
    images: node.images.map(({ was, now, ...image }) => ({ ...image, was: hide(was), now: hide(now) })),
  }
}

function ownField(field: FieldChange, hide: (text: string) => string): FieldChange {
  const { path, was, now, lines } = field
  return {
    ...field,
    path: hide(path),
    ...(was === undefined ? {} : { was: hide(was) }),
    ...(now === undefined ? {} : { now: hide(now) }),
    ...(lines === undefined ? {} : { lines: lines.map(hide) }),
  }
}

function ownRight(right: RightChange, hide: (text: string) => string): RightChange {
  const rights = (list: RightChange['gains']) => list.map(one => ({ ...one, names: one.names.map(hide) }))
  return {
    ...right,
    namespace: hide(right.namespace),
    gains: rights(right.gains),
    loses: rights(right.loses),
    unknown: right.unknown.map(hide),
  }
}
