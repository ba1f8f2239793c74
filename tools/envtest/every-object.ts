import { itemsAt, stringAt } from '../../src/cluster/json.ts'
import type { Json } from '../../src/kube/node.ts'
import type { TestCluster } from './start.ts'

/** What an API server has: every object of every kind that it lists, by `kind namespace/name`. */
export async function everyObject(cluster: TestCluster): Promise<ReadonlyMap<string, Json>> {
  const found = new Map<string, Json>()
  for (const { path, kind } of await listed(cluster)) {
    const { status, body } = await cluster.request('GET', path)
    // a definition that goes takes its lists along
    if (status === 404) continue
    if (status !== 200) throw new Error(`GET ${path} answered ${status}`)
    for (const one of itemsAt(body, 'items')) {
      const namespace = stringAt(one, 'metadata', 'namespace')
      found.set(`${kind} ${namespace ? `${namespace}/` : ''}${stringAt(one, 'metadata', 'name')}`, one)
    }
  }
  return found
}

/** Lists of all kinds: each once, in the version that its group prefers. */
async function listed(cluster: TestCluster): Promise<{ path: string; kind: string }[]> {
  const { body: groups } = await cluster.request('GET', '/apis')
  const versions = itemsAt(groups, 'groups').map(one => `/apis/${stringAt(one, 'preferredVersion', 'groupVersion')}`)
  const all = await Promise.all(
    ['/api/v1', ...versions].map(async path => {
      const { body } = await cluster.request('GET', path)
      return itemsAt(body, 'resources').flatMap(one => {
        const name = stringAt(one, 'name')
        const isListed = itemsAt(one, 'verbs').includes('list') && !name.includes('/')
        return isListed ? [{ path: `${path}/${name}`, kind: stringAt(one, 'kind') }] : []
      })
    }),
  )
  return all.flat()
}
