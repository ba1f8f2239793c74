import { fluxComponents } from './flux-components.ts'

/** Files by path. */
export type Files = ReadonlyMap<string, string>

export const CLUSTERS = ['production', 'staging'] as const

/** The fleet repository of so many tenants, laid out as fluxcd/flux2-multi-tenancy lays out one. */
export function platformFiles(tenants: readonly string[], addressOf: (tenant: string) => string): Map<string, string> {
  const files = new Map<string, string>()
  for (const tenant of tenants) {
    const base = `tenants/base/${tenant}`
    files.set(
      `${base}/kustomization.yaml`,
      `${KUSTOMIZATION}namespace: ${tenant}\nresources:\n  - rbac.yaml\n  - sync.yaml\n`,
    )
    files.set(`${base}/rbac.yaml`, rbac(tenant))
    files.set(`${base}/sync.yaml`, sync(tenant, addressOf(tenant)))
  }
  for (const cluster of CLUSTERS) {
    const overlay = `tenants/${cluster}`
    const bases = tenants.map(tenant => `  - ../base/${tenant}\n`).join('')
    const patches = tenants.map(tenant => `  - path: ${tenant}-patch.yaml\n`).join('')
    files.set(`${overlay}/kustomization.yaml`, `${KUSTOMIZATION}resources:\n${bases}patches:\n${patches}`)
    for (const tenant of tenants) files.set(`${overlay}/${tenant}-patch.yaml`, pathPatch(tenant, cluster))
    const root = `clusters/${cluster}`
    files.set(`${root}/tenants.yaml`, kustomization('tenants', `./tenants/${cluster}`, 'infrastructure'))
    files.set(`${root}/infrastructure.yaml`, kustomization('infrastructure', './infrastructure'))
    files.set(`${root}/flux-system/kustomization.yaml`, LOCKDOWN)
    files.set(`${root}/flux-system/gotk-components.yaml`, fluxComponents())
    files.set(`${root}/flux-system/gotk-sync.yaml`, bootstrap(cluster))
  }
  files.set('infrastructure/kustomization.yaml', `${KUSTOMIZATION}resources:\n  - quotas.yaml\n  - classes.yaml\n`)
  files.set('infrastructure/quotas.yaml', QUOTAS)
  files.set('infrastructure/classes.yaml', CLASSES)
  return files
}

export const FLEET_URL = 'https://github.com/acme/fleet'
export const KUSTOMIZATION = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'

const rbac = (tenant: string) => `---
apiVersion: v1
kind: Namespace
metadata:
  labels:
    toolkit.fluxcd.io/tenant: ${tenant}
  name: ${tenant}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  labels:
    toolkit.fluxcd.io/tenant: ${tenant}
  name: ${tenant}
  namespace: ${tenant}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  labels:
    toolkit.fluxcd.io/tenant: ${tenant}
  name: gotk-reconciler
  namespace: ${tenant}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects:
  - kind: User
    name: gotk:${tenant}:reconciler
  - kind: ServiceAccount
    name: ${tenant}
    namespace: ${tenant}
`

const sync = (tenant: string, address: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: ${tenant}
  namespace: ${tenant}
spec:
  interval: 1m
  url: ${address}
  ref:
    branch: main
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${tenant}
  namespace: ${tenant}
spec:
  serviceAccountName: ${tenant}
  interval: 5m
  sourceRef:
    kind: GitRepository
    name: ${tenant}
  prune: true
`

const pathPatch = (tenant: string, cluster: string) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${tenant}
  namespace: ${tenant}
spec:
  path: ./${cluster}
`

const kustomization = (name: string, path: string, after?: string) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: flux-system
spec:
${after === undefined ? '' : `  dependsOn:\n    - name: ${after}\n`}  interval: 5m
  serviceAccountName: kustomize-controller
  sourceRef:
    kind: GitRepository
    name: flux-system
  path: ${path}
  prune: true
`

const bootstrap = (cluster: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  ref:
    branch: main
  url: ${FLEET_URL}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m
  path: ./clusters/${cluster}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`

const LOCKDOWN = `${KUSTOMIZATION}resources:
  - gotk-components.yaml
  - gotk-sync.yaml
patches:
  - patch: |
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: --no-cross-namespace-refs=true
    target:
      kind: Deployment
      name: "(kustomize-controller|helm-controller|notification-controller)"
  - patch: |
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: --no-remote-bases=true
    target:
      kind: Deployment
      name: kustomize-controller
  - patch: |
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: --default-service-account=default
    target:
      kind: Deployment
      name: "(kustomize-controller|helm-controller)"
  - patch: |
      - op: add
        path: /spec/serviceAccountName
        value: kustomize-controller
    target:
      kind: Kustomization
      name: flux-system
`

const QUOTAS = `apiVersion: v1
kind: ResourceQuota
metadata:
  name: controllers
  namespace: flux-system
spec:
  hard:
    pods: "1000"
`

const CLASSES = `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: tenants
value: 1000
description: What tenants run.
`
