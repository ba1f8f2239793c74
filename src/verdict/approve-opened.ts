import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { EvaluatedNode } from '../rules/model/finding.ts'
import type { Approval, ApprovedNode, Held } from './approve.ts'

/** One evaluation of the nodes of a cluster, and what it approves. */
interface Round {
  readonly nodes: readonly EvaluatedNode[]
  readonly approval: Pick<Approval, 'apply' | 'held'>
}

interface Opening {
  /** As the nodes were evaluated when they were approved: with unknown values. */
  readonly before: Round
  /** The same revision set with the values that were read; absent: none could be. */
  readonly after?: Round | undefined
  /** Why the values of a node could not be read, by its key. */
  readonly unread: ReadonlyMap<string, string>
  /** Why encrypted objects of a node could not be decrypted, of which enough is known for what depends on it. */
  readonly unopened?: ReadonlyMap<string, string>
  /** Keyed hash of a digest. A plain hash of guessable values would reveal them. */
  readonly seal: (digest: string) => string
}

/**
 * What may be applied once the values of the cluster are known: what was approved without them and is approved with them,
 * as it was evaluated with them. Values decide nothing but values: the same objects by the same account, or the node is
 * held. Reasons never quote a value. Pure.
 */
export function approveOpened({ before, after, unread, unopened, seal }: Opening): Required<Round['approval']> {
  const [first, second] = [indexOf(before), after && indexOf(after)]
  const apply: ApprovedNode[] = []
  const held: Held[] = []
  const holds = new Set<string>()
  const hold = (one: Held) => {
    held.push(one)
    holds.add(one.node)
  }
  for (const node of before.nodes) {
    const { key: name, parent } = node
    const own = first.held.get(name)
    const reason = own && own.by === undefined ? own.reason : unread.get(name)
    if (reason !== undefined) hold({ node: name, reason })
    else if (parent !== null && holds.has(parent)) hold({ node: name, reason: `its parent ${parent} is held back` })
    else if (!second) {
      const approved = first.apply.get(name)
      if (approved) apply.push(approved)
      else hold(own!)
    } else {
      const opened = openedNode(node, first.apply.get(name), second, seal)
      if (typeof opened === 'string') hold({ node: name, reason: opened })
      else apply.push(opened)
    }
  }
  const failing = (node: ApprovedNode) => {
    const reason = unopened?.get(node.key)
    return reason === undefined ? node : { ...node, unopened: reason }
  }
  return { apply: apply.map(failing), held }
}

interface Index {
  readonly nodes: ReadonlyMap<string, EvaluatedNode>
  readonly apply: ReadonlyMap<string, ApprovedNode>
  readonly held: ReadonlyMap<string, Held>
}

function indexOf({ nodes, approval: { apply, held } }: Round): Index {
  return {
    nodes: new Map(nodes.map(node => [node.key, node])),
    apply: new Map(apply.map(node => [node.key, node])),
    held: new Map(held.map(one => [one.node, one])),
  }
}

/** The node with its values, or why it is held. */
function openedNode(
  node: EvaluatedNode,
  approved: ApprovedNode | undefined,
  after: Index,
  seal: Opening['seal'],
): ApprovedNode | string {
  const again = after.nodes.get(node.key)
  const held = after.held.get(node.key)
  if (!again || isElsewhere(node, again)) return `${given(node)}, it would be another Kustomization`
  if (held) return heldReason(node, held)
  const opened = after.apply.get(node.key)
  if (!opened) return `${given(node)}, it is not approved`
  if (opened.digest === node.digest && sameText(opened.settings, node.settings))
    return approved && !approved.decryption ? approved : { ...opened, ...inClear(node, opened) }
  if (!sameIds(idsOf(node), idsOf(again))) return `${given(node)}, it would apply other objects`
  const known = new Set(node.objects)
  const confidential = opened.objects.flatMap((text, index) => (known.has(text) ? [] : [index]))
  const digests = { digest: seal(opened.digest), applyDigest: seal(opened.applyDigest) }
  return { ...opened, ...inClear(node, opened), ...digests, confidential }
}

/** Nothing of it is encrypted any more; with other keys it is opened anew. */
function inClear(
  { decryption }: EvaluatedNode,
  opened: EvaluatedNode | ApprovedNode,
): Pick<EvaluatedNode, 'decryption'> {
  if (!decryption || opened.decryption) return {}
  const { secret } = decryption
  return { decryption: { ...(secret === undefined ? {} : { secret }), seals: [] } }
}

/** In words that hold no value: what was found may quote one. */
function heldReason(node: EvaluatedNode, { by, found }: Held): string {
  const change = isSealed(node)
    ? 'Change the encrypted file, or write the value as plain text to see more'
    : 'Change the ConfigMap or Secret, or write the value into git to see more'
  if (by === 'values')
    return 'a value that it depends on is still not known: an encrypted file is of a format that is not supported, or git encrypts the value itself'
  if (found && 'rule' in found) {
    const where = idsOf(node).includes(textOf(found.object)) ? ` in ${display(found.object)}` : ''
    return `${given(node)}, it violates ${found.rule}${where}. ${change}`
  }
  if (found) return `${given(node)}, it cannot be evaluated (${found.code}). ${change.split(',')[0]}`
  return `${given(node)}, it is not approved`
}

/** Of what git does not show, only what is encrypted can be the cause. */
const isSealed = ({ decryption, needs }: EvaluatedNode) => decryption !== undefined && needs === undefined

const given = (node: EvaluatedNode) =>
  isSealed(node) ? 'with its encrypted values decrypted' : 'with the values that the cluster has'

/** What a node is, besides its objects and how they are applied: no value decides it. */
const PLACE = [
  ...(['cluster', 'hub', 'namespace', 'name', 'parent', 'user', 'impersonated'] as const),
  ...(['tenant', 'source', 'prune', 'suspend', 'dependsOn'] as const),
]

/** Whether it is anything else than its objects and how they are applied that values decide. */
function isElsewhere(a: EvaluatedNode, b: EvaluatedNode): boolean {
  const place = (node: EvaluatedNode) => [...PLACE.map(key => node[key]), node.settings.kubeConfig]
  return !sameText(place(a), place(b))
}

/** Both were written by the same code, in its order. */
const sameText = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Names with a hash of values that were unknown are those with any hash. */
function sameIds(was: readonly string[], is: readonly string[]): boolean {
  const before = was.map(id => id.replace(/-unknown-[a-z0-9]{10}"\]$/, '-#"]'))
  const known = new Set(before)
  const after = is.map(id => {
    const hashed = id.replace(/-[a-z0-9]{10}"\]$/, '-#"]')
    return known.has(hashed) ? hashed : id
  })
  return sameText(before.sort(), after.sort())
}

const textOf = ({ apiVersion, kind, namespace, name }: ObjectId) => JSON.stringify([apiVersion, kind, namespace, name])

const idsOf = ({ objects }: EvaluatedNode): string[] => objects.map(idText)

function idText(text: string): string {
  const { apiVersion = '', kind = '', metadata }: { readonly [field: string]: Json } = JSON.parse(text)
  const { namespace = '', name = '' } = (metadata ?? {}) as { readonly [field: string]: Json }
  return JSON.stringify([apiVersion, kind, namespace, name])
}
