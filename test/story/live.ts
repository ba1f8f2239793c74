import type { Json } from '../../src/kube/node.ts'
import type { TestCluster } from '../envtest/start.ts'

/** What the API server has at a path, as its admin sees it. Throws when it has nothing. */
export async function live(cluster: TestCluster, path: string): Promise<{ readonly [field: string]: Json }> {
  const { status, body } = await cluster.request('GET', path)
  if (status !== 200) throw new Error(`GET ${path} answered ${status}`)
  return body as { [field: string]: Json }
}

/** 200, or 404 where there is nothing. */
export async function liveStatus(cluster: TestCluster, path: string): Promise<number> {
  return (await cluster.request('GET', path)).status
}
