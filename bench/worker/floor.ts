import { Agent, request } from 'node:https'
import { readCredentials } from '../../src/cluster/credentials.ts'
import type { Json } from '../../src/kube/node.ts'
import { binding } from '../../test/cluster/cluster-under-test.ts'
import { type BenchNode, CLUSTER } from './bench-fleet.ts'

const CONNECTIONS = 16
const PATHS: Readonly<Record<string, string>> = {
  ConfigMap: '/api/v1/namespaces/NS/configmaps',
  ServiceAccount: '/api/v1/namespaces/NS/serviceaccounts',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
  Deployment: '/apis/apps/v1/namespaces/NS/deployments',
}

/**
 * Seconds that the API server takes for a dry run and an apply of each object on 16 connections, as the accounts of the
 * nodes: no order, no ownership, no inventory. Nobody who validates before he writes is quicker.
 */
export async function floorSeconds(kubeconfig: string, nodes: readonly BenchNode[]): Promise<number> {
  const credentials = await readCredentials(binding(CLUSTER, kubeconfig))
  const { headers, tls } = await credentials.access()
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const patch = (user: string, path: string, body: string) =>
    new Promise<void>((resolve, reject) => {
      const all = { ...headers, 'Impersonate-User': user, 'Content-Type': 'application/apply-patch+yaml' }
      const sent = request(
        new URL(path, credentials.server),
        { method: 'PATCH', agent, headers: all, ...tls },
        answer => {
          const chunks: Buffer[] = []
          answer.on('data', chunk => chunks.push(chunk))
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            if (answer.statusCode! < 300) resolve(void JSON.parse(text))
            else reject(new Error(`${path}: ${answer.statusCode} ${text}`))
          })
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  const work = nodes.flatMap(({ user, objects }) => objects.map(object => ({ user, object })))
  const start = performance.now()
  let next = 0
  const lane = async () => {
    while (next < work.length) {
      const { user, object } = work[next++]!
      const path = `${pathOf(object)}?fieldManager=floor&force=true`
      const body = JSON.stringify(object)
      await patch(user, `${path}&dryRun=All`, body)
      await patch(user, path, body)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane))
  agent.destroy()
  return (performance.now() - start) / 1000
}

function pathOf(object: Json): string {
  const { kind, metadata } = object as { kind: string; metadata: { namespace: string; name: string } }
  return `${PATHS[kind]!.replace('NS', metadata.namespace)}/${metadata.name}`
}
