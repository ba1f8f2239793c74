import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { itemsAt, jsonAt } from '../../../../src/cluster/json.ts'
import type { TestCluster } from '../../../../tools/envtest/start.ts'
import { type Program, runProgram } from '../../../workers/app/run-program.ts'
import { until } from '../../../workers/queue/until.ts'
import { containerEnv } from './container-env.ts'
import { asJson, type Container, type Pod, type Probe } from './manifest.ts'
import { writeVolumes } from './pod-volumes.ts'
import { openSandbox, type Reachable, type Sandbox } from './sandbox.ts'

const SCRIPT = join(import.meta.dirname, 'in-pod.sh')
const MERGE = 'application/merge-patch+json'
/** Of a loaded machine: what the manifests allow is for one that has its CPU. */
const PATIENCE = 4

/** A pod whose container runs. */
export interface RunningPod {
  readonly pod: Pod
  readonly program: Program
  readonly sandbox: Sandbox
  /** GET at the pod's address, not at its loopback. */
  get(port: number, path: string, headers?: Readonly<Record<string, string>>): Promise<{ status: number; body: string }>
}

/** An unpacked image, and the variables of its configuration. */
interface Image {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
}

interface Node {
  readonly cluster: TestCluster
  /** An empty folder for volumes and sockets. */
  readonly folder: string
  readonly imageOf: (image: string) => Image
  /** What a pod reaches over the network, and its /etc/hosts. */
  readonly network: (pod: Pod) => Promise<{ readonly reachable: readonly Reachable[]; readonly hosts: string }>
}

interface Execution {
  readonly sandbox: Sandbox
  readonly mounts: string
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Runs the pods that controllers created on an API server: does what a kubelet and a container runtime do, without Docker. */
export class Kubelet {
  readonly #node: Node
  readonly #running = new Set<RunningPod>()

  constructor(node: Node) {
    this.#node = node
  }

  get pods(): readonly RunningPod[] {
    return [...this.#running]
  }

  /**
   * Runs the pods of a Deployment or StatefulSet that do not run yet; resolves with all of them, when their probes say that they are
   * ready. `isAwaited` false: at once.
   */
  async start(
    namespace: string,
    owner: string,
    { isAwaited = true, kind = 'deployments' }: { isAwaited?: boolean; kind?: 'deployments' | 'statefulsets' } = {},
  ): Promise<RunningPod[]> {
    const { cluster } = this.#node
    const path = `/apis/apps/v1/namespaces/${namespace}/${kind}/${owner}`
    const { body } = await cluster.request('GET', path)
    const labels = Object.entries(jsonAt(body, 'spec', 'selector', 'matchLabels') as object).map(one => one.join('='))
    const wanted = Number(jsonAt(body, 'spec', 'replicas'))
    const list = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(labels.join(','))}`
    let pods: Pod[] = []
    await until(async () => {
      const { body: found } = await cluster.request('GET', list)
      pods = (itemsAt(found, 'items') as unknown as Pod[]).filter(
        ({ metadata }) => !('deletionTimestamp' in metadata) && isOf(metadata.name, owner),
      )
      return pods.length === wanted
    }, 60_000)
    return Promise.all(pods.map(pod => this.#byName(namespace, pod.metadata.name) ?? this.#run(pod, isAwaited)))
  }

  /** Ends a pod as a kubelet does, SIGTERM first, and removes it; resolves with its exit code. */
  async stop(running: RunningPod): Promise<number | null> {
    const { metadata, spec } = running.pod
    running.program.process.kill('SIGTERM')
    const timer = setTimeout(() => running.program.process.kill('SIGKILL'), spec.terminationGracePeriodSeconds * 1000)
    const code = await running.program.exit
    clearTimeout(timer)
    this.#running.delete(running)
    await running.sandbox.close()
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`
    await this.#node.cluster.request('DELETE', `${path}?gracePeriodSeconds=0`)
    return code
  }

  async close(): Promise<void> {
    await Promise.all(
      this.pods.map(async ({ program, sandbox }) => {
        await program.end()
        await sandbox.close()
      }),
    )
    this.#running.clear()
  }

  #byName(namespace: string, name: string): RunningPod | undefined {
    return this.pods.find(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name)
  }

  async #run(pod: Pod, isAwaited: boolean): Promise<RunningPod> {
    const { cluster, folder, network } = this.#node
    const own = mkdtempSync(join(folder, 'pod-'))
    const [container, ...others] = pod.spec.containers
    if (container === undefined || others.length > 0) throw new Error(`${pod.metadata.name}: not one container`)
    await writeVolumes(cluster, pod, join(own, 'volumes'))
    const { reachable, hosts } = await network(pod)
    const ports = (container.ports ?? []).map(({ containerPort }) => containerPort)
    mkdirSync(join(own, 'net'))
    const sandbox = await openSandbox(join(own, 'net'), reachable, ports)
    writeFileSync(join(own, 'hosts'), hosts)
    writeFileSync(join(own, 'mounts'), mountsOf(pod, container, own))
    const env = await containerEnv(cluster, pod, container)
    const image = this.#node.imageOf(container.image)
    const run = (command: readonly string[]) =>
      this.#exec(pod, image, { sandbox, mounts: join(own, 'mounts'), command, env })
    const program = run([...(container.command ?? []), ...(container.args ?? [])])
    const running: RunningPod = {
      pod,
      program,
      sandbox,
      get: (port, path, headers) => get(sandbox, port, path, headers),
    }
    this.#running.add(running)
    if (!isAwaited) return running
    const holds = (probe: Probe) => this.#holds(running, container, probe, run)
    const { startupProbe, livenessProbe, readinessProbe } = container
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      if (probe === undefined) continue
      await until(
        async () => {
          const { exitCode, signalCode } = program.process
          if (exitCode !== null || signalCode !== null)
            throw new Error(`${pod.metadata.name} ended: ${program.said()}${program.complained()}`)
          return holds(probe)
        },
        probe.periodSeconds * probe.failureThreshold * PATIENCE * 1000,
      )
    }
    await this.#report(pod, container)
    return running
  }

  /** Starts a command in the container, with nothing but its own variables. */
  #exec({ spec }: Pod, image: Image, { sandbox, mounts, command, env }: Execution): Program {
    const { runAsUser, runAsGroup } = spec.securityContext
    const user = [String(runAsUser), String(runAsGroup)]
    const given = {
      ...image.env,
      ...env,
      PATH: process.env.PATH,
      IMAGE_PATH: image.env.PATH,
      IMAGE_WORKDIR: image.workdir,
    }
    const unset = { HOME: undefined, GITHUB_API_URL: env.GITHUB_API_URL }
    return runProgram([SCRIPT, String(sandbox.process), image.root, mounts, ...user, ...command], {
      ...given,
      ...unset,
    })
  }

  async #holds(
    running: RunningPod,
    { ports = [] }: Container,
    { httpGet, tcpSocket, exec }: Probe,
    run: (command: readonly string[]) => Program,
  ): Promise<boolean> {
    if (exec) return (await run(exec.command).exit) === 0
    const asked = (httpGet ?? tcpSocket)!.port
    const port = ports.find(({ name, containerPort }) => asked === name || asked === containerPort)
    if (port === undefined) throw new Error(`a probe asks the port ${asked}, which the container does not name`)
    if (!httpGet) return opens(running.sandbox, port.containerPort)
    return running.get(port.containerPort, httpGet.path).then(
      ({ status }) => status >= 200 && status < 400,
      () => false,
    )
  }

  async #report({ metadata }: Pod, { name, image }: Container): Promise<void> {
    const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
    const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(type => ({
      ...{ type, status: 'True', lastTransitionTime: now },
    }))
    const state = { running: { startedAt: now } }
    const containerStatuses = [{ name, ready: true, restartCount: 0, image, imageID: '', state }]
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/status`
    const status = { phase: 'Running', startTime: now, conditions, containerStatuses }
    const answer = await this.#node.cluster.request('PATCH', path, asJson({ status }), { contentType: MERGE })
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  }
}

/** `bailiwick-worker-5d4f-abcde` is a pod of the Deployment bailiwick-worker, `bailiwick-redis-0` of the StatefulSet bailiwick-redis. */
const isOf = (pod: string, owner: string) => [/-[^-]+-[^-]+$/, /-\d+$/].some(end => pod.replace(end, '') === owner)

function mountsOf(pod: Pod, { volumeMounts = [], securityContext = {} }: Container, own: string): string {
  if (securityContext.readOnlyRootFilesystem !== true || securityContext.allowPrivilegeEscalation !== false)
    throw new Error(`${pod.metadata.name}: its root can be written to, or it may gain privileges`)
  const volumes = volumeMounts.map(
    ({ name, mountPath, readOnly }) => `${readOnly ? 'ro' : 'rw'} ${join(own, 'volumes', name)} ${mountPath}\n`,
  )
  return `${volumes.join('')}ro ${join(own, 'hosts')} /etc/hosts\n`
}

/** Whether something in the pod takes a connection: the relay ends those that nothing takes. */
async function opens(sandbox: Sandbox, port: number): Promise<boolean> {
  const socket = connect({ path: sandbox.inbound(port) })
  const ended = once(socket, 'close').catch(() => undefined)
  const isOpen = await Promise.race([ended.then(() => false), sleep(200, true)])
  socket.on('error', () => undefined).destroy()
  return isOpen
}

async function get(
  sandbox: Sandbox,
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: string }> {
  const sent = request({ socketPath: sandbox.inbound(port), path, headers, timeout: 10_000 })
  sent.on('timeout', () => sent.destroy(new Error(`${path}: no answer`)))
  sent.end()
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, body: Buffer.concat(chunks).toString() }
}
