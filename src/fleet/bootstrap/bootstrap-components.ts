import { INSTALLED_ACCOUNTS, installedRbac } from '../../flux/installed-rbac.ts'
import { ROOT_NAMESPACE } from '../../flux/kinds.ts'

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
export const COMPONENTS = ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller']

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
