import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../base/git/temporary-folder.ts'
import { until } from '../queue/until.ts'
import { startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'

/** Ports that this process tries to reach from now on, to the end of the test. */
function triedPorts(): ReadonlySet<number> {
  const ports = new Set<number>()
  const onSocket = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket }
    socket.on('connectionAttempt', (_ip: string, port: number) => ports.add(port))
  }
  subscribe('net.client.socket', onSocket)
  onTestFinished(() => {
    unsubscribe('net.client.socket', onSocket)
  })
  return ports
}

/** The port of a server that has every sign of this machine's cluster, and a kubeconfig that leads to it. */
async function clusterOfMachine() {
  const server = createServer((_, response) => response.writeHead(503).end())
  await new Promise<void>(settle => server.listen(0, '127.0.0.1', settle))
  onTestFinished(() => {
    server.close()
    vi.unstubAllEnvs()
  })
  const { port } = server.address() as AddressInfo
  const folder = temporaryFolder()
  const kubeconfig = join(folder, 'config')
  const named = { apiVersion: 'v1', kind: 'Config', 'current-context': 'c' }
  const cluster = { clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}` } }] }
  const user = {
    users: [{ name: 'c', user: { token: 't' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  }
  writeFileSync(kubeconfig, JSON.stringify({ ...named, ...cluster, ...user }))
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '127.0.0.1')
  vi.stubEnv('KUBERNETES_SERVICE_PORT', `${port}`)
  vi.stubEnv('KUBECONFIG', kubeconfig)
  return { port, folder, kubeconfig }
}

test('without clusters.yaml, no connection goes to a cluster: to nothing but GitHub', async () => {
  await clusterOfMachine()
  const ports = triedPorts()
  const stage = await startStage({ settings: { CLUSTERS_FILE: undefined, FLEETS: 'acme/fleet' } })
  onTestFinished(() => stage.close())
  const { github } = stage
  await stage.settle()
  const repo = 'acme/dev-team'
  const parent = github.commitOf(repo, 'main')
  github.push({ repo, branch: 'report', parent, files: { 'base/report.yaml': deploymentFile('report') }, as: 'dora' })
  const pull = github.openPullRequest({ repo, head: 'report', as: 'dora' }).issue.number
  await stage.settle()
  expect(github.merge({ repo, pull, as: 'dora' })).toMatchObject({ status: 200 })
  await stage.settle()
  const ours = [github.url, stage.site.url].map(url => Number(new URL(url).port))
  expect(ports.size).toBeGreaterThan(0)
  expect([...ports].filter(port => !ours.includes(port))).toEqual([])
}, 120_000)

test('with it, one goes to the cluster that it names', async () => {
  const { port, folder, kubeconfig } = await clusterOfMachine()
  const file = join(folder, 'clusters.yaml')
  const entry = `  - name: staging\n    fleet: https://github.com/acme/fleet\n    mode: reconcile\n    kubeconfig: ${kubeconfig}\n`
  writeFileSync(file, `clusters:\n${entry}`)
  const ports = triedPorts()
  const stage = await startStage({ settings: { CLUSTERS_FILE: file } })
  onTestFinished(() => stage.close())
  await until(() => ports.has(port))
}, 120_000)
