import { createHmac } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { nodeFailure } from '../../src/cluster/cluster-error.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { mapAt, parseSecretValue } from '../../src/cluster/json.ts'
import type { Kms } from '../../src/cluster/open-kms.ts'
import { refuseOwnTarget } from '../../src/cluster/refused-targets.ts'
import { eachLimited } from '../../src/cluster/slots.ts'
import type { ClusterValues, NodeValues, ReadData, ValueNeed } from '../../src/fleet/model/fleet.ts'
import { KUSTOMIZE_GROUP } from '../../src/kube/flux-kinds.ts'
import type { Json } from '../../src/kube/node.ts'
import { type EvaluatedNode, SEALED_FIELDS, UNKNOWN_VALUES } from '../../src/rules/model/finding.ts'
import { approve } from '../../src/verdict/approve.ts'
import { approveOpened } from '../../src/verdict/approve-opened.ts'
import type { WorkerContext } from '../fleets/worker-context.ts'
import type { Approved, ApprovedWithValues } from './approved-nodes.ts'
import { type OpenedMemory, openSealed } from './open-sealed.ts'

/** As many as the client has connections. */
const AT_ONCE = 16

/** A cluster, and what is kept of it between two runs. */
interface Opening {
  readonly client: ClusterClient
  /** The services whose keys the operator lists, with the tokens that they returned. */
  readonly kms: Kms
  readonly opened?: OpenedMemory | undefined
}

interface Context extends Pick<WorkerContext, 'evaluator'> {
  /** Key of the digests of cluster values: with another one, everything that has such values is applied again. */
  readonly valuesKey: string
}

/**
 * Reads the cluster values that approved nodes depend on, evaluates the same revision set with them, and returns what
 * passes again. A node whose values cannot be read, or that does not pass, is held. Throws if the cluster does not
 * answer.
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
  if (answer?.type !== 'evaluated') {
    for (const { key } of open) if (!unread.has(key)) unread.set(key, UNEVALUATED)
    return { ...approved, ...approveOpened({ before, unread, unopened, seal }) }
  }
  const { verdict, nodes } = answer.evaluation
  const { revisionSet } = verdict
  const { name, fleet, branch, kubeConfigs = [], kmsKeys = [] } = binding
  const approval = approve({
    binding: { cluster: name, fleet, branch, kubeConfigs, kmsKeys },
    evaluated: { revisionSet, nodes, baseline: answer.baseline },
    heads: { ...heads, revisionSet },
  })
  const here = nodes.filter(node => (node.hub ?? node.cluster) === binding.name)
  const after = { nodes: here, approval }
  return { ...approved, ...approveOpened({ before, after, unread, unopened, seal }), awaitsValues: unread.size > 0 }
}

const UNEVALUATED =
  'with the values that the cluster has, the fleet cannot be evaluated. Change the ConfigMap or Secret'

interface ReadAll {
  readonly read: ReadonlyMap<string, NodeValues>
  /** Reasons by the key of the node. */
  readonly unread: Map<string, string>
  /** Nodes of which only decryption failed: each fails as a whole, and holds nothing else back. */
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
      // without any of them it stays as it was evaluated
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

/** Derives a key for this use alone: nothing else that is signed with the key has this form. */
function sealOf(key: string): (text: string) => string {
  const own = createHmac('sha256', key).update('bailiwick cluster values').digest()
  return text => createHmac('sha256', own).update(text).digest('hex')
}

/** If these values exceed the evaluation limits, only their nodes are held. */
function limited(error: unknown): undefined {
  if (error instanceof BailiwickError && error.code === 'evaluation-limits') return undefined
  throw error
}

const MAX_SOURCES = 32
const MAX_BYTES = 4 * 1024 * 1024
const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/

/**
 * Reads what a Kustomization substitutes from, each as its account and in its own namespace (kustomize-controller uses
 * its own rights). Optional ones may be missing. Throws `cluster-invalid`, `cluster-forbidden` and what a request
 * throws, without any value.
 */
async function readValues(
  client: ClusterClient,
  { user, namespace, name, impersonated, needs = [] }: EvaluatedNode,
  signal: AbortSignal,
): Promise<NodeValues['objects']> {
  const id = { apiVersion: `${KUSTOMIZE_GROUP}/v1`, kind: 'Kustomization', namespace, name }
  await refuseOwnTarget(client, { user, id })
  if (!impersonated && needs.length > 0) throw noAccount()
  if (needs.length > MAX_SOURCES) throw tooMuch(`names more than ${MAX_SOURCES} ConfigMaps and Secrets`)
  const objects = new Map<string, ReadData | null>()
  let bytes = 0
  for (const need of needs) {
    const data = await read(client, { user, namespace, need, signal })
    for (const [key, value] of data ?? []) bytes += Buffer.byteLength(key) + Buffer.byteLength(value ?? '')
    if (bytes > MAX_BYTES) throw tooMuch(`takes more than ${MAX_BYTES} bytes of values`)
    objects.set(`${need.kind}/${namespace}/${need.name}`, data)
  }
  return objects
}

interface Reading {
  readonly user: string
  readonly namespace: string
  readonly need: ValueNeed
  readonly signal: AbortSignal
}

async function read(client: ClusterClient, { user, namespace, need, signal }: Reading): Promise<ReadData | null> {
  const { kind, name, optional } = need
  if (!NAME.test(name)) throw missing(namespace, need, 'its name is not valid')
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/${kind === 'Secret' ? 'secrets' : 'configmaps'}/${name}`
  const { status, body } = await client.request({ user }, 'GET', path, { signal })
  if (status === 200) return dataOf(kind, body)
  if (optional) return null
  throw missing(namespace, need, 'does not exist')
}

/** `data` only: Flux does not look at `binaryData`. */
function dataOf(kind: ValueNeed['kind'], body: Json): ReadData {
  const values = Object.entries(mapAt(body, 'data'))
  return new Map(values.map(([key, value]) => [key, kind === 'Secret' ? parseSecretValue(value) : String(value)]))
}

function missing(namespace: string, { kind, name }: ValueNeed, what: string): BailiwickError {
  const message = `${kind} ${namespace}/${name.slice(0, 253)}, which spec.postBuild.substituteFrom names: ${what}`
  return new BailiwickError('cluster-invalid', message, { fix: 'Create it, or set optional: true.' })
}

function noAccount(): BailiwickError {
  return new BailiwickError('cluster-invalid', 'spec.postBuild.substituteFrom: no account to read it as', {
    fix: 'Set spec.serviceAccountName.',
  })
}

function tooMuch(what: string): BailiwickError {
  const fix = 'Substitute from fewer or smaller ConfigMaps and Secrets.'
  return new BailiwickError('cluster-invalid', `spec.postBuild.substituteFrom ${what}`, { fix })
}
