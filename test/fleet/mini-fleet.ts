import type { Files, Given } from './fleet-of.ts'

export const FLEET_URL = 'https://github.com/acme/fleet'
export const DEV_URL = 'https://github.com/acme/dev-team'
export const OPS_URL = 'https://github.com/acme/ops-team'

const tenant = (name: string, namespace: string) => `apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
  labels:
    toolkit.fluxcd.io/tenant: ${name}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${name}
  namespace: ${namespace}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: gotk-reconciler
  namespace: ${namespace}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects:
  - kind: ServiceAccount
    name: ${name}
    namespace: ${namespace}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  interval: 1m
  url: https://github.com/acme/${name}
  ref:
    branch: main
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  serviceAccountName: ${name}
  interval: 5m
  sourceRef:
    kind: GitRepository
    name: ${name}
  path: ./deploy
  prune: true
`

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  url: ssh://git@github.com/acme/fleet
  ref:
    branch: main
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m
  path: ./clusters/staging
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`

const COMPONENTS = ['kustomize-controller', 'helm-controller']
  .map(
    name => `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: flux-system
spec:
  template:
    spec:
      containers:
        - name: manager
          args:
            - --log-level=info
          image: ghcr.io/fluxcd/${name}:v1.9.0
    metadata: {labels: {app: ${name}}}
  selector: {matchLabels: {app: ${name}}}
`,
  )
  .join('')

const LOCKDOWN = `resources:
  - gotk-components.yaml
  - gotk-sync.yaml
patches:
  - patch: |
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: --no-cross-namespace-refs=true
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: --no-remote-bases
      - op: add
        path: /spec/template/spec/containers/0/args/0
        value: --default-service-account=default
    target:
      kind: Deployment
      name: (kustomize-controller|helm-controller|notification-controller)
  - patch: |
      - op: add
        path: /spec/serviceAccountName
        value: kustomize-controller
    target:
      kind: Kustomization
      name: flux-system
`

const TENANTS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: tenants
  namespace: flux-system
spec:
  serviceAccountName: kustomize-controller
  interval: 5m
  sourceRef:
    kind: GitRepository
    name: flux-system
  path: ./tenants
  prune: true
`

/** A fleet of one cluster, locked down, with the tenants dev-team (namespace apps) and ops-team (namespace ops). */
export const fleetFiles: Files = {
  'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml]\n',
  'clusters/staging/flux-system/kustomization.yaml': LOCKDOWN,
  'clusters/staging/flux-system/gotk-components.yaml': COMPONENTS,
  'clusters/staging/flux-system/gotk-sync.yaml': SYNC,
  'clusters/staging/tenants.yaml': TENANTS,
  'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml]\n',
  'tenants/dev-team.yaml': tenant('dev-team', 'apps'),
  'tenants/ops-team.yaml': tenant('ops-team', 'ops'),
}

/** The same, where each Kustomization decrypts; the last line of these files is in its spec. */
export const sealedFleetFiles: Files = Object.fromEntries(
  Object.entries(fleetFiles).map(([path, text]) => [
    path,
    /team\.yaml$|gotk-sync\.yaml$|staging\/tenants\.yaml$/.test(path)
      ? `${text as string}  decryption: {provider: sops, secretRef: {name: sops-age}}\n`
      : text,
  ]),
)

export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: apps
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: nginx}]}}
`

export const devFiles: Files = {
  'deploy/kustomization.yaml': 'resources:\n  - web.yaml\n',
  'deploy/web.yaml': DEPLOYMENT,
}

export const opsFiles: Files = {
  'deploy/kustomization.yaml': 'resources: [config.yaml]\n',
  'deploy/config.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ops\n  namespace: ops\n',
}

/** The fleet with other files in one of its repositories. */
export function miniFleet(change: { fleet?: Files; dev?: Files; ops?: Files } = {}): Given {
  return {
    url: FLEET_URL,
    fleet: { ...fleetFiles, ...change.fleet },
    sources: [
      { url: DEV_URL, files: { ...devFiles, ...change.dev } },
      { url: OPS_URL, files: { ...opsFiles, ...change.ops } },
    ],
  }
}

/** dev-team's own files with one more resource. */
export function withResource(content: string, name = 'extra.yaml'): Files {
  return { 'deploy/kustomization.yaml': `resources:\n  - web.yaml\n  - ${name}\n`, [`deploy/${name}`]: content }
}
