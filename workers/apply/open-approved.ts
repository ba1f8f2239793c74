import { createHmac } from 'node:crypto'
import { approve } from '../../src/approval/approve.ts'
import { approveOpened } from '../../src/approval/approve-opened.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { eachLimited } from '../../src/cluster/each-limited.ts'
import { nodeFailure } from '../../src/cluster/node-failure.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { ClusterValues, NodeValues } from '../../src/fleet/model/cluster-values.ts'
import type { Kms } from '../../src/kms/open-kms.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import { SEALED_FIELDS, UNKNOWN_VALUES } from '../../src/rules/model/unknown-values.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { Approved, ApprovedWithValues } from './approved-nodes.ts'
import { openSealed } from './open-sealed.ts'
import type { OpenedMemory } from './opened-memory.ts'
import { readValues } from './read-values.ts'

/** As many as the client has connections. */
const AT_ONCE = 16

/** A cluster, and what is kept of it between two runs. */
interface Opening {
  readonly client: ClusterClient
  /** The services whose keys the operator lists, with the tokens that they gave. */
  readonly kms: Kms
  readonly opened?: OpenedMemory | undefined
}

interface Context extends Pick<WorkerContext, 'evaluator'> {
  /** Digests of what holds values of the cluster are made with it: with another one, everything that has such values is applied again. */
  readonly valuesKey: string
}

/**
 * What may be applied of what was approved, with the values of the cluster: reads those that the nodes depend on, evaluates
 * the same revision set with them, and keeps what passes again. What cannot be read, or does not pass, is held. Throws where
 * the cluster does not answer.
 */
export async function openApproved(
  { evaluator, valuesKey }: Context,
  cluster: Opening,
  binding: ClusterBinding,
  evaluated: ApprovedWithValues,
  signal: AbortSignal,
): Promise<Approved> {
  const { open, question, heads, ...approved } = evaluated
  cluster.opened?.retain(new Set(open.map(({ key }) => key)))
  if (open.length === 0) return approved
  const seal = sealOf(valuesKey)
  const { read, unread, unopened } = await readAll(open, cluster, signal)
  const before = { nodes: approved.nodes, approval: approved }
  const values = clusterValues(read, seal)
  if (read.size === 0) return { ...approved, ...approveOpened({ before, unread, unopened, seal }), awaitsValues: true }
  const answer = await evaluator.evaluate({ ...question, values }).catch(limited)
  if (answer?.type !== 'judged') {
    for (const { key } of open) if (!unread.has(key)) unread.set(key, UNEVALUATED)
    return { ...approved, ...approveOpened({ before, unread, unopened, seal }) }
  }
  const { verdict, nodes } = answer.evaluation
  const { combination } = verdict
  const { name, fleet, branch, kubeConfigs = [], kmsKeys = [] } = binding
  const approval = approve({
    binding: { cluster: name, fleet, branch, kubeConfigs, kmsKeys },
    evaluated: { combination, nodes, baseline: answer.baseline },
    heads: { ...heads, combination },
  })
  const here = nodes.filter(node => (node.hub ?? node.cluster) === binding.name)
  const after = { nodes: here, approval }
  return { ...approved, ...approveOpened({ before, after, unread, unopened, seal }), awaitsValues: unread.size > 0 }
}

const UNEVALUATED =
  'with the values that the cluster has, the fleet cannot be evaluated. Change the ConfigMap or Secret'

interface ReadAll {
  readonly read: ReadonlyMap<string, NodeValues>
  /** Why not, by the key of the node. */
  readonly unread: Map<string, string>
  /** Of which only decrypting failed: it fails as a whole, and holds nothing else back. */
  readonly unopened: Map<string, string>
}

async function readAll(
  nodes: readonly EvaluatedNode[],
  { client, kms, opened }: Opening,
  signal: AbortSignal,
): Promise<ReadAll> {
  const read = new Map<string, NodeValues>()
  const unread = new Map<string, string>()
  const unopened = new Map<string, string>()
  await eachLimited(nodes, AT_ONCE, async node => {
    const { key, refused } = node
    let objects: NodeValues['objects'] | undefined
    try {
      objects = await readValues(client, node, signal)
      const { files, sealed } = await openSealed(client, node, kms, opened)
      const isThere = files.size + sealed.size > 0 || [...objects.values()].some(data => data !== null)
      // without any of them it is as it was evaluated
      if (isThere || refused.includes(UNKNOWN_VALUES)) read.set(key, { objects, files, sealed })
    } catch (error) {
      const { message, fix } = await nodeFailure(client, error, signal)
      const reason = fix === undefined ? message : `${message}. ${fix}`
      const isEnough = objects && !node.decryption?.files && !refused.includes(SEALED_FIELDS)
      if (!isEnough) unread.set(key, reason)
      else {
        unopened.set(key, reason)
        if (objects!.size > 0) read.set(key, { objects: objects!, files: NOTHING, sealed: NOTHING })
      }
    }
  })
  return { read: new Map([...read].sort(([a], [b]) => (a < b ? -1 : 1))), unread, unopened }
}

const NOTHING = new Map<string, never>()

function clusterValues(nodes: ReadonlyMap<string, NodeValues>, seal: (text: string) => string): ClusterValues {
  const all = [...nodes].map(([key, { objects, files, sealed }]) => [
    key,
    [...sealed].map(([block, values]) => [block, [...values].map(([id, value]) => [id, typeof value, String(value)])]),
    [...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')]),
    [...objects].map(([id, data]) => [id, data && [...data].sort(([a], [b]) => (a < b ? -1 : 1))]),
  ])
  return { digest: seal(JSON.stringify(all)), nodes }
}

/** Its own use of the key: nothing else that is signed with it has this form. */
function sealOf(key: string): (text: string) => string {
  const own = createHmac('sha256', key).update('bailiwick cluster values').digest()
  return text => createHmac('sha256', own).update(text).digest('hex')
}

/** Too much to evaluate is what these values make of it: their nodes are held, nobody else's. */
function limited(error: unknown): undefined {
  if (error instanceof BailiwickError && error.code === 'evaluation-limits') return undefined
  throw error
}
