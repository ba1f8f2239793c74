import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Json } from '../../src/kube/node.ts'
import { findFlux, NO_FLUX } from './flux-assets.ts'
import { freePorts } from './ports.ts'
import { startProgram } from './program.ts'
import type { TestCluster } from './start.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** What kustomize-controller sends to notification-controller. */
export interface FluxEvent {
  readonly involvedObject: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly severity: string
  readonly reason: string
  readonly message: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly reportingController: string
}

/** Takes the place of notification-controller: keeps what is posted to it. */
export interface EventSink {
  readonly url: string
  readonly events: FluxEvent[]
  close(): Promise<void>
}

export interface RunningController {
  output(): string
  stop(): Promise<void>
}

/** Applies the CustomResourceDefinitions of kustomize-controller and source-controller, and waits until they are served. */
export async function installFlux(cluster: TestCluster): Promise<void> {
  const flux = findFlux()
  if (!flux) throw new Error(NO_FLUX)
  const names: string[] = []
  for (const file of readdirSync(flux.definitions)) {
    for (const document of parseAllDocuments(readFileSync(join(flux.definitions, file), 'utf8'))) {
      const definition = document.toJS() as { metadata: { name: string } } | null
      if (definition === null) continue
      const { status, body } = await cluster.request('POST', CRDS, definition as unknown as Json)
      if (status !== 201) throw new Error(`${definition.metadata.name}: ${JSON.stringify(body)}`)
      names.push(definition.metadata.name)
    }
  }
  for (const name of names) await untilEstablished(cluster, name)
}

async function untilEstablished(cluster: TestCluster, name: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const { body } = await cluster.request('GET', `${CRDS}/${name}`)
    const { conditions } =
      (body as { status?: { conditions?: { type: string; status: string }[] | null } }).status ?? {}
    if (conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`${name} is not established`)
}

/** A receiver of events on loopback. */
export async function openEventSink(): Promise<EventSink> {
  const events: FluxEvent[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      events.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(202).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    events,
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/**
 * The real kustomize-controller as cluster-admin on a test's API server, with the locks of a fleet for many tenants; its
 * events go to `sink`. `flags`: more of its own.
 */
export async function startKustomizeController(
  cluster: TestCluster,
  { sink, flags = [] }: { readonly sink?: EventSink; readonly flags?: readonly string[] } = {},
): Promise<RunningController> {
  const flux = findFlux()
  if (!flux) throw new Error(NO_FLUX)
  const [health] = await freePorts(1)
  const args = [
    '--metrics-addr=0',
    `--health-addr=127.0.0.1:${health}`,
    '--watch-all-namespaces',
    '--enable-leader-election=false',
    '--requeue-dependency=1s',
    '--http-retry=1',
    '--no-cross-namespace-refs',
    '--no-remote-bases',
    ...(sink ? [`--events-addr=${sink.url}`] : []),
    ...flags,
  ]
  const log = cluster.adminKubeconfig.replace(/[^/]*$/, 'kustomize-controller.log')
  // when it starts it removes what others of its name have in the folder for temporary files
  const scratch = mkdtempSync(join(dirname(cluster.adminKubeconfig), 'controller-'))
  const env = { ...process.env, KUBECONFIG: cluster.adminKubeconfig, RUNTIME_NAMESPACE: 'flux-system', TMPDIR: scratch }
  const program = startProgram(flux.controller, args, log, '', env)
  for (let attempt = 0; attempt < 600; attempt++) {
    if (program.ended()) throw new Error(`kustomize-controller ended while it started:\n${program.output()}`)
    if (await isReady(health!)) return { output: program.output, stop: () => program.stop(5000) }
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  await program.stop(0)
  throw new Error(`kustomize-controller is not ready after 30 s:\n${program.output()}`)
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.ok === true
}
