import { isDeepStrictEqual } from 'node:util'
import { BailiwickError } from '../errors.ts'
import { SOURCE_GROUP } from '../flux/kinds.ts'
import type { Json } from '../kube/node.ts'
import type { Actor, ClusterClient } from './client.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json-at.ts'

/** A source whose signature is checked by the cluster's source-controller. */
interface VerifiedSource {
  /** `<Kind>/<namespace>/<name>`. */
  readonly id: string
  /** Commit, or digest of the artifact, that was evaluated. */
  readonly commit: string
  /** JSON text of the `spec.verify` that was evaluated. */
  readonly verify: string
}

/**
 * Requires that source-controller verified the signature of exactly the evaluated content, as the evaluated `spec.verify`
 * demands: the worker has neither the keys nor the transparency log. Throws `cluster-invalid`
 * where that is not so, or not yet.
 */
export async function assertVerified(
  client: ClusterClient,
  actor: Actor,
  { id, commit, verify }: VerifiedSource,
  signal: AbortSignal,
): Promise<void> {
  const [kind = '', namespace = '', name = ''] = id.split('/')
  const resource = await client.discovery.findAnyVersion(`${SOURCE_GROUP}/v1`, kind)
  if (!resource) throw notVerified(id, `the cluster has no kind ${kind}`)
  const place = `namespaces/${encodeURIComponent(namespace)}/${resource.plural}/${encodeURIComponent(name)}`
  const { status, body } = await client.request(actor, 'GET', `/apis/${resource.apiVersion}/${place}`, { signal })
  if (status === 404) throw notVerified(id, 'the source is not on the cluster yet')
  if (stringAt(body, 'metadata', 'name') !== name) throw notVerified(id, 'the cluster did not answer with it')
  const why = whyNot(body, commit, verify)
  if (why !== undefined) throw notVerified(id, why)
}

function whyNot(source: Json, commit: string, verify: string): string | undefined {
  if (!isDeepStrictEqual(withDefaults(mapAt(source, 'spec', 'verify')), withDefaults(JSON.parse(verify)))) {
    return 'its spec.verify on the cluster is not the evaluated one'
  }
  const generation = jsonAt(source, 'metadata', 'generation')
  const verified = itemsAt(source, 'status', 'conditions').find(one => stringAt(one, 'type') === 'SourceVerified')
  const isCurrent = verified !== undefined && jsonAt(verified, 'observedGeneration') === generation
  if (!isCurrent || jsonAt(source, 'status', 'observedGeneration') !== generation)
    return 'source-controller has not verified it yet'
  if (stringAt(verified, 'status') !== 'True') return 'source-controller did not accept its signature'
  // `main@sha1:<commit>`, `v1@sha256:<digest>`, or without what is before the "@"
  const revision = stringAt(source, 'status', 'artifact', 'revision').split('@').at(-1) ?? ''
  if (revision === commit || revision === `sha1:${commit}`) return undefined
  return 'source-controller verified another revision than the evaluated one'
}

/** Defaults that the API server writes: the provider of an OCIRepository, the mode of a GitRepository. */
const withDefaults = (verify: Readonly<Record<string, unknown>>) => ({ provider: 'cosign', mode: 'HEAD', ...verify })

function notVerified(id: string, why: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `its source ${id} is not verified: ${why}`, {
    fix: `Look at the conditions of ${id} on the cluster. It is tried again.`,
  })
}
