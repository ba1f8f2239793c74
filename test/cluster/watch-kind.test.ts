import { expect, test } from 'vitest'
import type { ClusterClient, RequestOptions } from '../../src/cluster/client.ts'
import { clusterError } from '../../src/cluster/cluster-error.ts'
import { watchKind } from '../../src/cluster/watch-kind.ts'
import type { Json } from '../../src/kube/node.ts'

const MAPS = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true }
const object = (name: string, resourceVersion: string): Json => ({ metadata: { name, resourceVersion } })
const event = (type: string, one: Json): Json => ({ type, object: one })

/** A server whose watches are scripted: events, or an error that the watch ends with. */
async function follow(scripts: readonly (readonly Json[] | Error)[], lists: readonly Json[] = []) {
  const asked: string[] = []
  const told: string[] = []
  const abort = new AbortController()
  let [watches, listed] = [0, 0]
  const client = {
    name: 'staging',
    async request(_actor: unknown, _method: string, _path: string, { query, accept }: RequestOptions) {
      expect(accept).toContain('PartialObjectMetadataList')
      asked.push(`list ${query?.continue ?? ''}`.trim())
      return {
        status: 200,
        body: lists[listed++] ?? { metadata: { resourceVersion: '10' }, items: [object('a', '5')] },
      }
    },
    async stream(_actor: unknown, _path: string, { query, accept }: RequestOptions, onItem: (item: Json) => void) {
      expect(accept).toContain('as=PartialObjectMetadata;')
      asked.push(`watch ${query?.resourceVersion}`)
      const script = scripts[watches++]
      if (script === undefined) return abort.abort()
      if (script instanceof Error) throw script
      for (const one of script) onItem(one)
    },
  } as unknown as ClusterClient
  const name = (one: Json) => (one as { metadata: { name: string } }).metadata.name
  const watcher = {
    listed: (objects: readonly Json[]) => void told.push(`listed ${objects.map(name).join(' ')}`),
    changed: (one: Json, gone: boolean) => void told.push(`${gone ? 'gone' : 'changed'} ${name(one)}`),
    interrupted: () => void told.push('interrupted'),
  }
  await watchKind(client, MAPS, watcher, abort.signal)
  return { asked, told }
}

test('a list, then a watch from its version on; the next watch begins where the last one ended, bookmarks included', async () => {
  const { asked, told } = await follow([
    [event('MODIFIED', object('a', '11')), event('DELETED', object('a', '12')), event('BOOKMARK', object('', '20'))],
  ])
  expect(asked).toEqual(['list', 'watch 10', 'watch 20'])
  expect(told).toEqual(['listed a', 'changed a', 'gone a'])
})

test('a version that the server has forgotten (410) is followed by a list, as an event or as an answer', async () => {
  const expired = { kind: 'Status', code: 410, reason: 'Expired' }
  const asEvent = await follow([[event('ERROR', expired), event('ADDED', object('late', '30'))]])
  expect(asEvent.asked).toEqual(['list', 'watch 10', 'list', 'watch 10'])
  expect(asEvent.told).toEqual(['listed a', 'listed a'])
  const asAnswer = await follow([clusterError('staging', 410, expired)])
  expect(asAnswer.asked).toEqual(['list', 'watch 10', 'list', 'watch 10'])
  expect(asAnswer.told).toEqual(['listed a', 'interrupted', 'listed a'])
})

test('an outage is followed by a list too: what happened meanwhile may be lost', async () => {
  const { asked, told } = await follow([clusterError('staging', 503, {})])
  expect(asked).toEqual(['list', 'watch 10', 'list', 'watch 10'])
  expect(told).toEqual(['listed a', 'interrupted', 'listed a'])
})

test('a list of several pages is told as one', async () => {
  const page = (next: string, name: string): Json => ({
    metadata: { resourceVersion: '10', continue: next },
    items: [object(name, '1')],
  })
  const { asked, told } = await follow([], [page('more', 'a'), page('', 'b')])
  expect(asked).toEqual(['list', 'list more', 'watch 10'])
  expect(told).toEqual(['listed a b'])
})

test.each([403, 404, 405])('%i is final: the worker may not, or there is no such kind', async status => {
  await expect(follow([clusterError('staging', status, {})])).rejects.toMatchObject({ status })
})
