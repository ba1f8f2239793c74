/** A tenant of the fleet as `flux create tenant` and its sisters write it. */
interface TenantOptions {
  readonly name: string
  readonly namespace: string
  readonly url: string
  /** More lines of the Kustomization's spec. */
  readonly spec?: readonly string[]
  /** Leave `serviceAccountName` out. */
  readonly nameless?: boolean
}

/** The files of one tenant under `tenants/base`. */
export function tenantFiles(tenant: TenantOptions): Record<string, string> {
  const { name } = tenant
  return {
    [`tenants/base/${name}/kustomization.yaml`]: `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - rbac.yaml
  - sync.yaml
`,
    [`tenants/base/${name}/rbac.yaml`]: rbacFile(tenant),
    [`tenants/base/${name}/sync.yaml`]: syncFile(tenant),
  }
}

/** The tenants of staging: dev-team and more. */
export function stagingTenants(more: readonly string[]): Record<string, string> {
  const resources = ['dev-team', ...more].map(name => `  - ../base/${name}\n`).join('')
  const text = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
${resources}patches:
  - path: dev-team-patch.yaml
`
  return { 'tenants/staging/kustomization.yaml': text }
}

function rbacFile({ name, namespace }: TenantOptions): string {
  return `apiVersion: v1
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
  labels:
    toolkit.fluxcd.io/tenant: ${name}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ${name}-reconciler
  namespace: ${namespace}
  labels:
    toolkit.fluxcd.io/tenant: ${name}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects:
  - kind: ServiceAccount
    name: ${name}
    namespace: ${namespace}
`
}

function syncFile({ name, namespace, url, spec = [], nameless = false }: TenantOptions): string {
  const account = nameless ? [] : [`serviceAccountName: ${name}`]
  const lines = [...account, ...spec].map(line => `  ${line}\n`).join('')
  return `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  interval: 1m0s
  ref:
    branch: main
  url: ${url}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  interval: 1m0s
  path: ./
${spec.some(line => line.startsWith('prune:')) ? '' : '  prune: true\n'}${lines}  sourceRef:
    kind: GitRepository
    name: ${name}
`
}
