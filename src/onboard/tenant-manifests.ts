import { type OnboardRequest, roleOf } from './request.ts'

/** Words that YAML 1.1 or 1.2 readers take for something else than text. */
const NOT_TEXT = new Set(['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null', 'none'])

/** A checked name as a YAML scalar: plain where every reader takes it for text, else quoted. */
function text(value: string): string {
  const plain = /^(?:[A-Za-z_]|\.\/)/.test(value) && !NOT_TEXT.has(value.toLowerCase()) && !/[:#]\s|\s/.test(value)
  return plain ? value : JSON.stringify(value)
}

/**
 * What `flux create tenant T --with-namespace=... --export` prints: per namespace the Namespace, an account and its RoleBinding
 * (flux2 cmd/flux/create_tenant.go, golden testdata/create_tenant/tenant-basic.yaml).
 */
export function tenantManifest(request: OnboardRequest): string {
  const { tenant, namespaces } = request
  const labels = `  labels:\n    toolkit.fluxcd.io/tenant: ${text(tenant)}`
  return namespaces
    .map(namespace => {
      const ns = text(namespace)
      return `---
apiVersion: v1
kind: Namespace
metadata:
${labels}
  name: ${ns}
---
apiVersion: v1
kind: ServiceAccount
metadata:
${labels}
  name: ${text(tenant)}
  namespace: ${ns}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
${labels}
  name: ${text(`${tenant}-reconciler`)}
  namespace: ${ns}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: ${roleOf(request)}
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: gotk:${namespace}:reconciler
- kind: ServiceAccount
  name: ${text(tenant)}
  namespace: ${ns}
`
    })
    .join('')
}

/**
 * What `flux create source git` and `flux create kustomization --service-account=T --prune=true --path=./` print with
 * `--export` (flux2 cmd/flux/create_source_git.go, create_kustomization.go), in the tenant's first namespace.
 */
export function syncManifest({ tenant, namespaces, url, branch }: OnboardRequest): string {
  const name = text(tenant)
  const namespace = text(namespaces[0]!)
  return `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  interval: 1m0s
  ref:
    branch: ${text(branch)}
  url: ${text(url)}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  interval: 1m0s
  path: ./
  prune: true
  serviceAccountName: ${name}
  sourceRef:
    kind: GitRepository
    name: ${name}
`
}

/** The base of the tenant; no `namespace`, each object names its own. */
export const BASE_KUSTOMIZATION = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - rbac.yaml
  - sync.yaml
`

/** The patch of one cluster's overlay that says which directory of the tenant's repository this cluster gets. */
export function pathPatch({ tenant, namespaces }: OnboardRequest, path: string): string {
  return `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${text(tenant)}
  namespace: ${text(namespaces[0]!)}
spec:
  path: ${text(path)}
`
}
