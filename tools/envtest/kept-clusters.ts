import { createHash } from 'node:crypto'
import type { TestCluster } from './start.ts'

/** A cluster that was just started, and the address of its etcd. */
export interface Started {
  readonly cluster: TestCluster
  readonly etcd: string
  /** From now on the programs keep no process alive; they still end with it. */
  unref(): void
}

interface Kept extends Started {
  /** What etcd held when the cluster was new: the value of each key, and what the API server served then. */
  readonly values: ReadonlyMap<string, string>
  readonly served: string
}

const idle: Kept[] = []

/** What the API server writes by itself, at any time: its own address and leases. Nobody's test is about it. */
const OWN = /^\/registry\/(?:masterleases|leases\/kube-system|events)\//

/** How long the API server may take to see that its data were put back. */
const RESTORED_MS = 10_000

/**
 * A cluster like a new one, which takes three seconds of CPU: one that was used and stopped before has the data of its first
 * moment again, in etcd itself, which the API server watches. One that was killed meanwhile is not used again.
 */
export async function keptCluster(start: () => Promise<Started>): Promise<TestCluster> {
  const kept = idle.pop() ?? (await remember(await start()))
  let wasKilled = false
  return {
    ...kept.cluster,
    async pause() {
      wasKilled = true
      await kept.cluster.pause()
    },
    async stop() {
      if (wasKilled || !(await restore(kept))) return kept.cluster.stop()
      kept.unref()
      idle.push(kept)
    },
  }
}

async function remember(started: Started): Promise<Kept> {
  return { ...started, values: await valuesOf(started.etcd), served: await servedBy(started) }
}

/** Puts the first data back; false if the API server does not come to serve them. */
async function restore(kept: Kept): Promise<boolean> {
  const now = await valuesOf(kept.etcd)
  const puts = [...kept.values].filter(([key, value]) => now.get(key) !== value)
  for (const [key, value] of puts) await ask(kept.etcd, 'put', { key: encoded(key), value })
  for (const key of now.keys()) if (!kept.values.has(key)) await ask(kept.etcd, 'deleterange', { key: encoded(key) })
  for (const started = Date.now(); Date.now() - started < RESTORED_MS; ) {
    if ((await servedBy(kept)) === kept.served) return true
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return false
}

/** What the API server knows of what tests change: its groups, namespaces and rights, as it has them in memory. */
async function servedBy({ cluster }: Started): Promise<string> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const lists = ['/api/v1/namespaces', ...['clusterroles', 'clusterrolebindings', 'roles'].map(one => `${rbac}/${one}`)]
  const answers = await Promise.all([
    cluster.request('GET', '/apis'),
    ...lists.map(path => cluster.request('GET', `${path}?resourceVersion=0`)),
  ])
  return createHash('sha256')
    .update(JSON.stringify(answers.map(({ body }) => namesIn(body))))
    .digest('hex')
}

function namesIn(body: unknown): unknown {
  const { groups = [], items = [] } = body as { groups?: { name: string }[]; items?: { metadata: { name: string } }[] }
  return [...groups.map(({ name }) => name), ...items.map(({ metadata }) => metadata.name)].sort()
}

async function valuesOf(etcd: string): Promise<Map<string, string>> {
  const all = { key: encoded('/registry/'), range_end: encoded('/registry0') }
  const { kvs = [] } = (await ask(etcd, 'range', all)) as { kvs?: { key: string; value: string }[] }
  return new Map(
    kvs
      .map(({ key, value }) => [Buffer.from(key, 'base64').toString(), value] as const)
      .filter(([key]) => !OWN.test(key)),
  )
}

const encoded = (text: string): string => Buffer.from(text).toString('base64')

async function ask(etcd: string, call: 'range' | 'put' | 'deleterange', body: object): Promise<unknown> {
  const answer = await fetch(`${etcd}/v3/kv/${call}`, { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`etcd refused ${call}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
