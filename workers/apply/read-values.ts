import type { ClusterClient } from '../../src/cluster/client.ts'
import { mapAt } from '../../src/cluster/json-at.ts'
import { refuseOwnTarget } from '../../src/cluster/refuse-own-target.ts'
import { parseSecretValue } from '../../src/cluster/secret-value.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { NodeValues, ReadData, ValueNeed } from '../../src/fleet/model/cluster-values.ts'
import { KUSTOMIZE_GROUP } from '../../src/flux/kinds.ts'
import type { Json } from '../../src/kube/node.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'

const MAX_SOURCES = 32
const MAX_BYTES = 4 * 1024 * 1024
const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/

/**
 * Reads what a Kustomization substitutes from, each as its account and in its own namespace, where kustomize-controller
 * uses its own rights. What is optional may be missing. Throws `cluster-invalid`, `cluster-forbidden` and what a request
 * throws, without any value.
 */
export async function readValues(
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
