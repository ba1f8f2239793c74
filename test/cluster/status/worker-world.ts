import { connect } from '../../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { digestOfTexts } from '../../../src/fleet/model/same-node.ts'
import { DEFAULT_SETTINGS } from '../../../src/flux/apply-settings.ts'
import type { Json } from '../../../src/kube/node.ts'
import { applyApproved } from '../../../workers/apply/apply-approved.ts'
import type { Approved } from '../../../workers/apply/approved-nodes.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import { binding } from '../cluster-under-test.ts'
import type { FluxWorld } from './flux-world.ts'

type Node = Approved['apply'][number]

/** The worker on a test's API server: brings it to nodes that count as approved. */
export interface TestWorker {
  readonly client: ClusterClient
  /** Requests so far: as whom, method and path. */
  readonly requests: string[]
  /** `looked`: nodes that are looked at even where nothing says that they changed; all by default. */
  run(nodes: readonly Node[], more?: Partial<Approved>, looked?: readonly Node[]): ReturnType<typeof applyApproved>
}

export const CLUSTER = 'staging'
export const COMMIT = 'a'.repeat(40)

/** Flux asks nobody before it prunes: every set of objects counts as approved. */
export const EVERY_PRUNE: NonNullable<Approved['prunes']> = {
  limits: { share: 100, atLeast: 1 },
  approvals: async () => Object.assign(new Set<string>(), { has: () => true }),
}

export async function openWorker(world: FluxWorld, memory = new ClusterMemory()): Promise<TestWorker> {
  const plain = await connect(binding(CLUSTER, world.cluster.workerKubeconfig))
  const requests: string[] = []
  const client: ClusterClient = {
    ...plain,
    request(actor, method, path, options) {
      requests.push(`${actor === 'worker' ? 'worker' : actor.user} ${method} ${path}`)
      return plain.request(actor, method, path, options)
    },
  }
  return {
    client,
    requests,
    run(nodes, more = {}, looked = nodes) {
      // nobody watches in this test: every run looks at everything
      for (const { key } of looked) memory.suspect(key)
      const evaluated = nodes.map(node => ({ ...node, findings: [], failures: [], hides: [], refused: [] }))
      const all = { nodes: evaluated, evaluation: { nodes: evaluated } as unknown as Approved['evaluation'] }
      const approved: Approved = { ...all, apply: nodes, held: [], fleetCommit: COMMIT, prunes: EVERY_PRUNE, ...more }
      return applyApproved(client, approved, new AbortController().signal, memory)
    },
  }
}

/** A node of that Kustomization as an evaluation would have approved it. */
export function nodeOf(
  at: { readonly namespace: string; readonly name: string },
  objects: readonly Json[],
  more: Partial<Omit<Node, 'source'>> & { readonly commit?: string } = {},
): Node {
  const { commit = COMMIT, ...rest } = more
  const texts = objects.map(object => JSON.stringify(object))
  const digest = digestOfTexts(texts)
  return {
    key: `${CLUSTER}/${at.namespace}/${at.name}`,
    cluster: CLUSTER,
    ...at,
    parent: null,
    user: `system:serviceaccount:${at.namespace}:dev-team`,
    impersonated: true,
    tenant: at.namespace,
    source: {
      id: `GitRepository/${at.namespace}/${at.name}`,
      url: '',
      commit,
      opaque: null,
      revision: `main@sha1:${commit}`,
    },
    dependsOn: [],
    suspend: false,
    prune: true,
    settings: { ...DEFAULT_SETTINGS, intervalMs: 3_600_000, retryIntervalMs: 3_600_000, timeoutMs: 3_570_000 },
    digest,
    objects: texts,
    revisionSet: commit,
    applyDigest: digest,
    ...rest,
  }
}
