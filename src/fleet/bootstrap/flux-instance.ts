import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { INSTALLED_ACCOUNTS, installedRbac } from '../../flux/installed-rbac.ts'
import { renderKustomization } from '../../flux/render-kustomization.ts'
import type { Tree } from '../../git/tree.ts'
import {
  apiVersionOf,
  FLUX_INSTANCE,
  GIT_REPOSITORY,
  KUSTOMIZATION,
  KUSTOMIZE_GROUP,
  ROOT_NAMESPACE,
  SOURCE_GROUP,
} from '../../kube/flux-kinds.ts'
import { at, isTrue, type Json, type MapNode, type Node, originAt, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-fields.ts'
import { nodeOf } from '../model/kustomization-spec.ts'
import { overlayTree } from '../rendering/trees.ts'

/** Whether an object is a FluxInstance. */
export function isFluxInstance(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return `${groupOf(apiVersion)}/${kind}` === FLUX_INSTANCE
}

/** What a FluxInstance makes of the objects of Flux. */
interface InstalledFlux {
  readonly objects: readonly KubeObject[]
  /** `spec.distribution.version`, which may be a range, or what its artifact makes of that. */
  readonly version?: string
}

/**
 * What the Flux Operator installs for the FluxInstance among the objects of a cluster, as far as flags and accounts go:
 * the least of Flux, patched by the profiles that `spec.cluster` asks for and by `spec.kustomize.patches`
 * (flux-operator, internal/builder). Undefined where there is none. Throws what its patches throw.
 */
export function installedFlux(objects: readonly KubeObject[]): InstalledFlux | undefined {
  const instance = objects.find(isFluxInstance)
  if (!instance) return undefined
  const { root } = instance
  const own = at(root, ['spec', 'kustomize', 'patches'])
  if (own && own.type !== 'list') {
    const details = { origin: own.origin, fix: 'Write spec.kustomize.patches as a list.' }
    throw new BailiwickError('flux-invalid', 'FluxInstance: spec.kustomize.patches is not a list', details)
  }
  const profile = nodeOf([...profilePatches(root)], originAt(root, MULTITENANT))
  const patches = [...(profile.type === 'list' ? profile.items : []), ...(own?.items ?? [])]
  const spec = { type: 'map', fields: new Map(), origin: root.origin } as const
  const patched: MapNode = {
    ...spec,
    fields: new Map([['patches', { key: root.origin, value: { type: 'list', items: patches, origin: root.origin } }]]),
  }
  const kustomization: MapNode = { ...spec, fields: new Map([['spec', { key: root.origin, value: patched }]]) }
  const version = versionOf(root)
  const listed = componentsOf(instance)
  // whatever it lists, the two that apply for tenants have flags
  const isInstalled = (name: string) => listed.includes(name) || APPLIERS.includes(name)
  const files = new Map([
    ['components.yaml', bootstrapComponents(version, isInstalled)],
    ['sync.yaml', syncText(instance) ?? bootstrapSync('./')],
  ])
  const artifact = { repository: root.origin.repository, tree: overlayTree(EMPTY, files) }
  return {
    objects: renderKustomization(artifact, { root: kustomization, trail: [] }),
    ...(version === undefined ? {} : { version }),
  }
}

/** The first minor version of flux-operator whose manifests have each minor version of Flux, latest first. */
const MANIFESTS = [
  [53, 9],
  [42, 8],
  [30, 7],
  [21, 6],
  [15, 5],
  [10, 4],
  [7, 3],
] as const
/** The last one that is known: what later manifests have is not. */
const LAST_MANIFESTS = 58

/** A range means the newest version among the manifests, where their artifact is one release of the operator. */
function versionOf(root: MapNode): string | undefined {
  const version = stringAt(root, ['spec', 'distribution', 'version'])
  const artifact = stringAt(root, ['spec', 'distribution', 'artifact']) ?? ''
  const [, release] = /\/flux-operator-manifests:v0\.(\d{1,3})\.\d+(?:@|$)/.exec(artifact) ?? []
  if (release === undefined || Number(release) > LAST_MANIFESTS || !/^2?\.?[x*]?$/.test(version ?? '')) return version
  const [, minor] = MANIFESTS.find(([first]) => first <= Number(release)) ?? []
  return minor === undefined ? version : `2.${minor}`
}

const APPLIERS = ['kustomize-controller', 'helm-controller']

/** The controllers that a FluxInstance installs. */
export function componentsOf({ root }: KubeObject): readonly string[] {
  const listed = textsOf(at(root, ['spec', 'components'])) ?? []
  return listed.length > 0 ? listed : COMPONENTS
}

/** The source and the Kustomization that the operator makes of `spec.sync`, patched as everything that it installs. */
export function installedSync(instance: KubeObject): { kustomization?: KubeObject; source?: KubeObject } {
  const text = syncText(instance)
  if (text === undefined) return {}
  const name = syncName(instance)
  const origin = originAt(instance.root, ['spec', 'sync'])
  const made = (installedFlux([instance])?.objects ?? []).filter(object => idOf(object).name === name)
  const find = (group: string) => {
    const object = made.find(one => groupOf(idOf(one).apiVersion) === group)
    return object && { root: placed(object.root, origin) as MapNode, trail: instance.trail }
  }
  const [kustomization, source] = [find(KUSTOMIZE_GROUP), find(SOURCE_GROUP)]
  return { ...(kustomization ? { kustomization } : {}), ...(source ? { source } : {}) }
}

/** Its lines are not in the repository: all of it comes from the FluxInstance. */
function placed(node: Node, origin: Origin): Node {
  if (node.type === 'list') return { ...node, items: node.items.map(item => placed(item, origin)), origin }
  if (node.type === 'scalar') return { ...node, origin }
  const fields = [...node.fields].map(
    ([key, { value }]) => [key, { key: origin, value: placed(value, origin) }] as const,
  )
  return { ...node, fields: new Map(fields), origin }
}

const syncName = ({ root }: KubeObject) =>
  stringAt(root, ['spec', 'sync', 'name']) || stringAt(root, ['metadata', 'namespace']) || 'flux-system'

/** The manifests of `spec.sync` (flux-operator, internal/builder/templates.go); undefined where there is none. */
function syncText(instance: KubeObject): string | undefined {
  const of = (field: string) => stringAt(instance.root, ['spec', 'sync', field]) ?? ''
  const kind = of('kind')
  if (kind === '') return undefined
  const metadata = {
    name: syncName(instance),
    namespace: stringAt(instance.root, ['metadata', 'namespace']) || 'flux-system',
  }
  const place =
    kind === 'Bucket'
      ? { bucketName: of('ref'), endpoint: of('url') }
      : { ref: kind === 'OCIRepository' ? { tag: of('ref') } : { name: of('ref') }, url: of('url') }
  const source = { apiVersion: apiVersionOf(GIT_REPOSITORY), kind, metadata, spec: { interval: '1m0s', ...place } }
  const spec = { interval: '10m0s', path: of('path'), prune: true, sourceRef: { kind, name: metadata.name } }
  const kustomization = { apiVersion: apiVersionOf(KUSTOMIZATION), kind: 'Kustomization', metadata, spec }
  return `${JSON.stringify(source)}\n---\n${JSON.stringify(kustomization)}\n`
}

const EMPTY: Tree = {
  id: '',
  entry: () => undefined,
  list: () => [],
  read: () => {
    throw new BailiwickError('git-missing', 'the tree is empty')
  },
}

interface Controller {
  readonly name: string
  readonly args?: readonly string[]
  readonly volumes?: readonly string[]
}

/** The controllers of Flux with what differs between them. Source: the manifests of fluxcd/flux2. */
const CONTROLLERS: readonly Controller[] = [
  {
    name: 'source-controller',
    args: ['--storage-path=/data', '--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.cluster.local.'],
    volumes: ['data', 'tmp'],
  },
  { name: 'source-watcher', volumes: ['data', 'tmp'] },
  { name: 'kustomize-controller' },
  { name: 'helm-controller' },
  { name: 'notification-controller' },
  { name: 'image-reflector-controller', volumes: ['temp', 'data'] },
  { name: 'image-automation-controller' },
]

const ARGS = [
  '--events-addr=http://notification-controller.flux-system.svc.cluster.local./',
  '--watch-all-namespaces=true',
  '--log-level=info',
  '--log-encoding=json',
  '--enable-leader-election',
]

/** Everything that the patches of an installation write to, so that they find what they find on a cluster. */
const deployment = ({ name, args = [], volumes = ['temp'] }: Controller) => `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: flux-system
  labels:
    app.kubernetes.io/component: ${name}
    app.kubernetes.io/instance: flux-system
    app.kubernetes.io/part-of: flux
    control-plane: controller
spec:
  replicas: 1
  selector:
    matchLabels: {app: ${name}}
  template:
    metadata:
      annotations: {prometheus.io/port: "8080", prometheus.io/scrape: "true"}
      labels: {app: ${name}, app.kubernetes.io/part-of: flux}
    spec:
      containers:
      - name: manager
        args: ${JSON.stringify([...ARGS, ...args])}
        env:
        - name: RUNTIME_NAMESPACE
          valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
        - name: GOMAXPROCS
          valueFrom: {resourceFieldRef: {containerName: manager, resource: limits.cpu}}
        - name: GOMEMLIMIT
          valueFrom: {resourceFieldRef: {containerName: manager, resource: limits.memory}}
        image: ghcr.io/fluxcd/${name}
        imagePullPolicy: IfNotPresent
        livenessProbe: {httpGet: {path: /healthz, port: healthz}}
        ports:
        - {containerPort: 8080, name: http-prom, protocol: TCP}
        - {containerPort: 9440, name: healthz, protocol: TCP}
        readinessProbe: {httpGet: {path: /readyz, port: healthz}}
        resources:
          limits: {cpu: 1000m, memory: 1Gi}
          requests: {cpu: 100m, memory: 64Mi}
        securityContext:
          allowPrivilegeEscalation: false
          capabilities: {drop: [ALL]}
          readOnlyRootFilesystem: true
          runAsNonRoot: true
          seccompProfile: {type: RuntimeDefault}
        volumeMounts: ${JSON.stringify(volumes.map(volume => ({ mountPath: volume === 'data' ? '/data' : '/tmp', name: volume })))}
      nodeSelector: {kubernetes.io/os: linux}
      priorityClassName: system-cluster-critical
      securityContext: {fsGroup: 1337}
      serviceAccountName: ${name}
      terminationGracePeriodSeconds: 60
      volumes: ${JSON.stringify(volumes.map(volume => ({ emptyDir: {}, name: volume })))}
`

const document = (value: unknown) => `---\n${JSON.stringify(value)}\n`
const DEPLOYMENTS = CONTROLLERS.map(one => ({ ...one, text: deployment(one) }))
const ACCOUNTS = INSTALLED_ACCOUNTS.map(name =>
  document({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: ROOT_NAMESPACE } }),
).join('')

/** What a FluxInstance installs unless it lists its components. */
const COMPONENTS = ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller']

/** What Flux installs of a version: the controllers, to which patches of an installation write flags, and their rights. */
export function bootstrapComponents(version?: string, isInstalled: (name: string) => boolean = () => true): string {
  const deployments = DEPLOYMENTS.flatMap(({ name, text }) => (isInstalled(name) ? [text] : []))
  return `${deployments.join('')}${ACCOUNTS}${installedRbac(version).map(document).join('')}`
}

/** The Kustomization that an installation of Flux follows. */
export const bootstrapSync = (path: string): string => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  path: ${JSON.stringify(path)}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`

const REFERRING =
  '(kustomize-controller|helm-controller|notification-controller|image-reflector-controller|image-automation-controller|source-watcher)'
const APPLYING = '(kustomize-controller|helm-controller)'

/** Sizes of a cluster, with the flags that each adds to the controllers that apply, and to source-controller. */
const SIZES: ReadonlyMap<string, readonly (readonly [name: string, flags: readonly string[]])[]> = new Map([
  ['small', sized(['--concurrent=5', '--requeue-dependency=10s'], ['10'])],
  ['medium', sized(['--concurrent=10', '--requeue-dependency=5s'], ['50', '5'])],
  ['large', sized(['--concurrent=20', '--requeue-dependency=5s'], ['100', '10'])],
])

/**
 * The patches that the Flux Operator applies for `spec.cluster` of a FluxInstance before those of its own, as far as flags
 * and accounts go, in its order: an own patch names a flag by its place (flux-operator, internal/builder/profiles.go).
 */
function profilePatches(instance: MapNode): readonly Json[] {
  const size = SIZES.get(stringAt(instance, ['spec', 'cluster', 'size']) ?? '') ?? []
  return [...size.flatMap(([name, flags]) => flags.map(flag => adding(name, flag))), ...multitenant(instance)]
}

function sized(applying: readonly string[], [cache, concurrent]: readonly string[]) {
  const source = [`--helm-cache-max-size=${cache}`, '--helm-cache-ttl=720m', '--helm-cache-purge-interval=60m']
  const more = concurrent === undefined ? [] : [`--concurrent=${concurrent}`]
  return [
    [APPLYING, applying],
    ['source-controller', [...source, ...more]],
  ] as const
}

/** The field of a FluxInstance that switches every flag of the lockdown on. */
export const MULTITENANT = ['spec', 'cluster', 'multitenant']

/** Whether it is on, as the Flux Operator reads it. */
export const isMultitenant = (instance: MapNode): boolean => isTrue(at(instance, MULTITENANT))

function multitenant(instance: MapNode): readonly Json[] {
  if (!isMultitenant(instance)) return []
  const account = stringAt(instance, ['spec', 'cluster', 'tenantDefaultServiceAccount']) || 'default'
  return [
    adding(REFERRING, '--no-cross-namespace-refs=true'),
    adding('kustomize-controller', '--no-remote-bases=true'),
    adding(APPLYING, `--default-service-account=${account}`),
    { target: { kind: 'Kustomization' }, patch: addition('/spec/serviceAccountName', 'kustomize-controller') },
  ]
}

const adding = (name: string, flag: string): Json => ({
  target: { kind: 'Deployment', name },
  patch: addition('/spec/template/spec/containers/0/args/-', flag),
})

const addition = (path: string, value: string) => JSON.stringify([{ op: 'add', path, value }])
