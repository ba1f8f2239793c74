import { expect, test } from 'vitest'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { assertEvaluatedAs } from '../../../src/cluster/remote/remote-clients.ts'

function connection(name: string, uid: string) {
  const asked: string[] = []
  const client = {
    name,
    discovery: {},
    request: async (_actor: unknown, method: string, path: string) => {
      asked.push(`${method} ${path}`)
      return { status: 200, body: { metadata: { uid } } }
    },
  } as unknown as ClusterClient
  return { client, asked }
}

test('views of one connection are asked once for the uid of their cluster', async () => {
  const [home, edge] = [connection('staging', 'a'), connection('edge', 'b')]
  const server = { server: 'https://edge', cluster: 'staging -> kubeconfig apps/edge', ca: '' }
  for (const view of [home.client, { ...home.client }, { ...home.client }])
    await assertEvaluatedAs(view, { ...edge.client }, server, 'x')
  expect([home.asked, edge.asked]).toEqual([
    ['GET /api/v1/namespaces/kube-system'],
    ['GET /api/v1/namespaces/kube-system'],
  ])
})
