import { DEV_URL, FLEET_URL, fleetFiles, OPS_URL } from '../../fleet/mini-fleet.ts'
import type { World } from './index.ts'

const RECONCILER = 'gitops-reconciler'
const LOCKDOWN = 'clusters/staging/flux-system/kustomization.yaml'

/** What a fleet with Capsule holds of a tenant: its home, its reconciler, which owns the Tenant, and what that may do. */
const tenant = (name: string) => `apiVersion: v1
kind: Namespace
metadata:
  name: ${name}
  labels:
    toolkit.fluxcd.io/tenant: ${name}
    capsule.clastix.io/tenant: ${name}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${RECONCILER}
  namespace: ${name}
---
apiVersion: capsule.clastix.io/v1beta2
kind: Tenant
metadata:
  name: ${name}
spec:
  additionalRoleBindings:
    - clusterRoleName: cluster-admin
      subjects:
        - name: ${RECONCILER}
          kind: ServiceAccount
          namespace: ${name}
  owners:
    - name: system:serviceaccount:${name}:${RECONCILER}
      kind: ServiceAccount
  namespaceOptions:
    quota: 3
    forbiddenLabels:
      denied: [example.com/zone, example.com/trust]
    forbiddenAnnotations:
      denied: [example.com/owner]
    additionalMetadata:
      labels: {pod-security.kubernetes.io/enforce: baseline}
  networkPolicies:
    items:
      - podSelector: {}
        policyTypes: [Ingress]
  ingressOptions:
    allowedHostnames: {allowed: [${name}.example.com]}
    hostnameCollisionScope: Cluster
  serviceOptions:
    allowedServices: {externalName: false, nodePort: false}
  resourceQuotas:
    scope: Tenant
    items:
      - hard: {limits.cpu: "8", pods: "50"}
  limitRanges:
    items:
      - limits: [{type: Container, default: {cpu: 100m}}]
  nodeSelector: {pool: tenants}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ${RECONCILER}
  namespace: ${name}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects:
  - kind: ServiceAccount
    name: ${RECONCILER}
    namespace: ${name}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: capsule-namespace-provisioner-gitops-${name}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: capsule-namespace-provisioner-gitops
subjects:
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: system:serviceaccounts:${name}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: ${name}-${RECONCILER}-impersonator
rules:
  - apiGroups: [""]
    resources: [users]
    verbs: [impersonate]
    resourceNames: ["system:serviceaccount:${name}:${RECONCILER}"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: ${name}-${RECONCILER}-impersonate
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: ${name}-${RECONCILER}-impersonator
subjects:
  - name: ${RECONCILER}
    kind: ServiceAccount
    namespace: ${name}
---
apiVersion: source.toolkit.fluxcd.io/v1beta2
kind: GitRepository
metadata:
  name: ${name}
  namespace: ${name}
spec:
  interval: 1m
  url: https://github.com/acme/${name}
  ref:
    branch: main
---
apiVersion: kustomize.toolkit.fluxcd.io/v1beta2
kind: Kustomization
metadata:
  name: ${name}
  namespace: ${name}
spec:
  kubeConfig:
    secretRef:
      name: ${RECONCILER}-kubeconfig
      key: kubeconfig
  interval: 1m
  sourceRef:
    kind: GitRepository
    name: ${name}
  path: ./deploy
  prune: true
  validation: client
`

const CAPSULE = `apiVersion: kustomize.toolkit.fluxcd.io/v1beta2
kind: Kustomization
metadata:
  name: capsule
  namespace: flux-system
spec:
  serviceAccountName: kustomize-controller
  interval: 1m
  sourceRef:
    kind: GitRepository
    name: flux-system
  path: ./capsule
  prune: true
`

const CONFIGURATION = `apiVersion: capsule.clastix.io/v1beta2
kind: CapsuleConfiguration
metadata:
  name: default
spec:
  userGroups:
    - capsule.clastix.io
    - system:serviceaccounts:dev-team
    - system:serviceaccounts:ops-team
  protectedNamespaceRegex: ^(kube-|flux-)
  forceTenantPrefix: false
  nodeMetadata:
    forbiddenLabels: {denied: [pool]}
`

const PROVISIONER = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: capsule-namespace-provisioner-gitops
rules:
  - apiGroups: [""]
    resources: [namespaces]
    verbs: [patch]
`

/** A tenant's own files: a namespace that Capsule lets it create, and something in it. */
const own = (name: string, namespace: string) => `apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
  labels:
    toolkit.fluxcd.io/tenant: ${name}
    kubernetes.io/metadata.name: ${namespace}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: ${namespace}
`

const files = (name: string, namespace: string) => ({
  'deploy/kustomization.yaml': 'resources:\n  - web.yaml\n',
  'deploy/web.yaml': own(name, namespace),
})

/**
 * Capsule: tenants make namespaces of their own (dev-team: shop, ops-team: infra), their reconcilers own the Capsule
 * Tenants and act through Capsule's proxy. No Kustomization names an account: `--default-service-account` does.
 */
export const capsule: World = {
  name: 'capsule',
  repositories: [
    {
      name: 'fleet',
      url: FLEET_URL,
      branch: 'main',
      files: {
        ...fleetFiles,
        [LOCKDOWN]: fleetFiles[LOCKDOWN]!.replace('service-account=default', `service-account=${RECONCILER}`),
        'clusters/staging/kustomization.yaml': 'resources: [flux-system, capsule.yaml, tenants.yaml]\n',
        'clusters/staging/capsule.yaml': CAPSULE,
        'capsule/configuration.yaml': CONFIGURATION,
        'capsule/provisioner.yaml': PROVISIONER,
        'tenants/dev-team.yaml': tenant('dev-team'),
        'tenants/ops-team.yaml': tenant('ops-team'),
      },
    },
    { name: 'dev', url: DEV_URL, branch: 'main', files: files('dev-team', 'shop') },
    { name: 'ops', url: OPS_URL, branch: 'main', files: files('ops-team', 'infra') },
  ],
}
