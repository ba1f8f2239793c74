import type { Held } from '../../src/approval/approve.ts'
import type { ClusterWork } from '../../src/channel/cluster-work.ts'
import { BailiwickError } from '../../src/errors.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/engine-version.ts'
import type { Approved, ApprovedWithValues } from '../apply/approved-nodes.ts'

/**
 * What both the web process and this worker approve, in the same words: a node whose digest differs, or whose parent is not
 * applied, is held. Throws `source-unreadable` where the worker sees less nodes than were evaluated: what it does not see, it
 * would take for removed.
 */
export function agreedNodes(approved: ApprovedWithValues, work: ClusterWork): ApprovedWithValues {
  const present = new Set(approved.nodes.map(({ key }) => key))
  const unseen = work.nodes.find(key => !present.has(key))
  if (unseen !== undefined) {
    throw new BailiwickError(
      'source-unreadable',
      `${unseen} was evaluated by the web process, and is not visible here`,
      {
        fix: `Run the same version on both sides (engine ${work.engine} there, ${ENGINE_VERSION} here), with the same OCI_HOSTS.`,
      },
    )
  }
  const digests = new Map(work.apply.map(({ key, digest }) => [key, digest]))
  const reasons = new Map(work.held.map(({ key, reason }) => [key, reason]))
  const agreed = new Set<string>()
  const apply: Approved['apply'][number][] = []
  const waiting = new Map(work.waiting.map(({ key, digest }) => [key, digest]))
  const own = new Map(approved.nodes.map(({ key, digest }) => [key, digest]))
  // what both sides hold until the values are known may be opened; whatever else is held stays held
  const held: Held[] = approved.held.map(({ node, reason, by, ...more }) => {
    const isSame = by !== undefined && waiting.has(node) && waiting.get(node) === own.get(node)
    return isSame ? { node, reason, by, ...more } : { node, reason: reasons.get(node) ?? reason, ...more }
  })
  for (const node of approved.apply) {
    const reason = whyNot(node, digests, reasons, present, agreed, work.engine)
    if (reason !== undefined) {
      held.push({ node: node.key, reason })
      continue
    }
    agreed.add(node.key)
    apply.push(node)
  }
  const closed = new Set(held.filter(({ by }) => by === undefined).map(({ node }) => node))
  return { ...approved, apply, held, open: approved.open.filter(({ key }) => !closed.has(key)) }
}

function whyNot(
  { key, parent, applyDigest }: Approved['apply'][number],
  digests: ReadonlyMap<string, string>,
  reasons: ReadonlyMap<string, string>,
  present: ReadonlySet<string>,
  agreed: ReadonlySet<string>,
  engine: string,
): string | undefined {
  const digest = digests.get(key)
  if (digest === undefined) return reasons.get(key) ?? 'the web process did not evaluate it'
  if (digest !== applyDigest)
    return `the web process approved other content (its engine is ${engine}, that of the worker ${ENGINE_VERSION})`
  if (parent !== null && present.has(parent) && !agreed.has(parent)) return `its parent ${parent} is held`
  return undefined
}
