import type { Json } from '../../../src/kube/node.ts'

type Fields = { [key: string]: Json }

/** A random source: the same seed gives the same fleet. */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761 + 12_345) >>> 0
  }
  /** In [0, 1): mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  chance(share: number): boolean {
    return this.next() < share
  }
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!
  }
  count(most: number): number {
    return Math.floor(this.next() * (most + 1))
  }
  many<T>(most: number, make: (at: number) => T): T[] {
    return Array.from({ length: 1 + this.count(most - 1) }, (_, at) => make(at))
  }
  /** Some of the entries. */
  some(fields: Fields, share = 0.6): Fields {
    return Object.fromEntries(Object.entries(fields).filter(() => this.chance(share)))
  }
}

const NAMESPACES = ['apps', 'ops', 'default']
export const KINDS = ['Pod', 'Deployment', 'CronJob', 'ConfigMap', 'Service', 'Namespace'] as const
type Kind = (typeof KINDS)[number]

const IMAGES = [
  'nginx',
  'nginx:latest',
  'ghcr.io/acme/web:1.2',
  'ghcr.io/acme/web@sha256:'.concat('a'.repeat(64)),
  'quay.io/x/y:v1',
]
const QUANTITIES = ['10m', '100m', '1', '64Mi', '128Mi', '1Gi', '0.5', '1e3']
const TEXTS = [
  'low',
  'high',
  'low-1',
  '',
  'true',
  '5',
  '10',
  '1h',
  '30m',
  '1.2.3',
  'a*b',
  '*',
  '?',
  'Ünï',
  'x,y',
  '-',
  '10Mi',
  '1-5',
]

const labels = (random: Random): Fields =>
  random.some({
    app: random.pick(['web', 'api']),
    team: random.pick(['dev', 'ops', '']),
    tier: random.pick(['1', '2', 'true']),
  })

const metadata = (random: Random, name: string, namespace: string | undefined): Fields => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  ...(random.chance(0.7) ? { labels: labels(random) } : {}),
  ...(random.chance(0.3) ? { annotations: { 'a.example.com/x': random.pick(TEXTS), note: random.pick(TEXTS) } } : {}),
})

const securityContext = (random: Random): Fields =>
  random.some(
    {
      privileged: random.chance(0.5),
      allowPrivilegeEscalation: random.chance(0.5),
      runAsNonRoot: random.chance(0.5),
      runAsUser: random.pick([0, 1000]),
      readOnlyRootFilesystem: random.chance(0.5),
      capabilities: random.pick<Json>([
        { drop: ['ALL'] },
        { add: ['NET_ADMIN'] },
        { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
        {},
      ]),
      seccompProfile: { type: random.pick(['RuntimeDefault', 'Unconfined', 'Localhost']) },
      procMount: random.pick(['Default', 'Unmasked']),
      seLinuxOptions: random.pick<Json>([{ type: 'container_t' }, { user: 'x' }, {}]),
    },
    0.35,
  )

const container = (random: Random, at: number): Fields => ({
  name: `c${at}`,
  image: random.pick(IMAGES),
  ...random.some(
    {
      imagePullPolicy: random.pick(['Always', 'IfNotPresent']),
      resources: {
        requests: random.some({ memory: random.pick(QUANTITIES), cpu: random.pick(QUANTITIES) }),
        limits: random.some({ memory: random.pick(QUANTITIES) }),
      },
      ports: random.many<Json>(2, () =>
        random.some({ containerPort: random.pick([80, 443, 8080]), hostPort: random.pick([0, 80]) }, 0.8),
      ),
      env: random.many<Json>(2, () => ({ name: random.pick(['A', 'B']), value: random.pick(TEXTS) })),
      securityContext: securityContext(random),
    },
    0.4,
  ),
})

const podSpec = (random: Random): Fields => ({
  containers: random.many<Json>(3, at => container(random, at)),
  ...random.some(
    {
      initContainers: random.many<Json>(2, at => container(random, 10 + at)),
      hostNetwork: random.chance(0.5),
      hostPID: random.chance(0.5),
      volumes: random.many<Json>(2, at => ({
        name: `v${at}`,
        ...random.pick<Fields>([{ hostPath: { path: '/x' } }, { emptyDir: {} }, { configMap: { name: 'm' } }]),
      })),
      securityContext: random.some(
        {
          runAsNonRoot: random.chance(0.5),
          runAsUser: random.pick([0, 1000]),
          seccompProfile: { type: random.pick(['RuntimeDefault', 'Unconfined']) },
          sysctls: [{ name: random.pick(['kernel.shm_rmid_forced', 'kernel.msgmax']), value: '1' }],
        },
        0.5,
      ),
      serviceAccountName: random.pick(['default', 'web']),
      nodeSelector: { zone: random.pick(['a', 'b']) },
    },
    0.35,
  ),
})

const template = (random: Random): Fields => ({
  metadata: { labels: labels(random), ...(random.chance(0.3) ? { annotations: { note: random.pick(TEXTS) } } : {}) },
  spec: podSpec(random),
})

/** A random object of a kind. */
export function randomObject(random: Random, kind: Kind, name: string): Fields {
  const namespace = kind === 'Namespace' ? undefined : random.pick(NAMESPACES)
  const own = { metadata: metadata(random, name, namespace) }
  switch (kind) {
    case 'Pod':
      return { apiVersion: 'v1', kind, ...own, spec: podSpec(random) }
    case 'Deployment':
      return {
        apiVersion: 'apps/v1',
        kind,
        ...own,
        spec: { replicas: random.count(6), selector: { matchLabels: { app: 'web' } }, template: template(random) },
      }
    case 'CronJob':
      return {
        apiVersion: 'batch/v1',
        kind,
        ...own,
        spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template(random) } } },
      }
    case 'Service':
      return {
        apiVersion: 'v1',
        kind,
        ...own,
        spec: {
          type: random.pick(['ClusterIP', 'NodePort', 'LoadBalancer']),
          ports: random.many<Json>(3, at => ({
            name: `p${at}`,
            port: random.pick([80, 443, 8080]),
            ...(random.chance(0.4) ? { nodePort: 30_000 + random.count(9) } : {}),
          })),
          ...(random.chance(0.3) ? { externalIPs: random.many(2, () => random.pick(['10.0.0.1', '1.2.3.4'])) } : {}),
        },
      }
    case 'Namespace':
      return { apiVersion: 'v1', kind, ...own }
    case 'ConfigMap':
      return {
        apiVersion: 'v1',
        kind,
        ...own,
        data: random.some(
          {
            level: random.pick(TEXTS),
            count: random.pick(TEXTS),
            size: random.pick(QUANTITIES),
            time: random.pick(['1h', '90s', '2h30m']),
            json: '{"a": [1, 2], "b": "x"}',
          },
          0.7,
        ),
      }
  }
}

/** Objects with names that occur once. */
export function randomObjects(random: Random, count: number): Fields[] {
  return Array.from({ length: count }, (_, at) =>
    randomObject(random, random.pick(KINDS), `${random.pick(['web', 'api', 'job'])}-${at}`),
  )
}
