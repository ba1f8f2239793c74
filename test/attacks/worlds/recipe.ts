import { DEV_URL, FLEET_URL, fleetFiles, OPS_URL } from '../../fleet/mini-fleet.ts'
import type { World } from './index.ts'

const ACCOUNT = 'gitops-reconciler'
const LOCKDOWN = 'clusters/staging/flux-system/kustomization.yaml'

/** A tenant as Capsule's document makes it: its home, which no label gives to anybody, and everything of the recipe. */
const tenant = (name: string, url: string) => `apiVersion: v1
kind: Namespace
metadata:
  name: ${name}-system
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${ACCOUNT}
  namespace: ${name}-system
---
apiVersion: capsule.clastix.io/v1beta2
kind: Tenant
metadata:
  name: ${name}
spec:
  additionalRoleBindings:
    - clusterRoleName: cluster-admin
      subjects:
        - name: ${ACCOUNT}
          kind: ServiceAccount
          namespace: ${name}-system
  owners:
    - name: system:serviceaccount:${name}-system:${ACCOUNT}
      kind: ServiceAccount
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ${ACCOUNT}
  namespace: ${name}-system
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects:
  - kind: ServiceAccount
    name: ${ACCOUNT}
    namespace: ${name}-system
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: ${name}-${ACCOUNT}-impersonator
rules:
  - apiGroups: [""]
    resources: ["users"]
    verbs: ["impersonate"]
    resourceNames: ["system:serviceaccount:${name}-system:${ACCOUNT}"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: ${name}-${ACCOUNT}-impersonate
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: ${name}-${ACCOUNT}-impersonator
subjects:
  - name: ${ACCOUNT}
    kind: ServiceAccount
    namespace: ${name}-system
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: ${name}
  namespace: ${name}-system
spec:
  interval: 1m
  url: ${url}
  ref:
    branch: main
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: ${name}-system
spec:
  serviceAccountName: ${ACCOUNT}
  kubeConfig:
    secretRef:
      name: ${ACCOUNT}-kubeconfig
      key: kubeconfig
  interval: 1m
  sourceRef:
    kind: GitRepository
    name: ${name}
  path: ./deploy
  prune: true
`

const CAPSULE = `apiVersion: kustomize.toolkit.fluxcd.io/v1
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
    - system:serviceaccounts:oil-system
    - system:serviceaccounts:gas-system
`

const RELEASE = `apiVersion: v1
kind: Namespace
metadata:
  name: cert-manager
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: jetstack
  namespace: flux-system
spec:
  interval: 1h
  url: https://charts.jetstack.io
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cert-manager
  namespace: flux-system
spec:
  serviceAccountName: helm-controller
  targetNamespace: cert-manager
  interval: 1h
  chart:
    spec:
      chart: cert-manager
      version: 1.18.2
      sourceRef:
        kind: HelmRepository
        name: jetstack
`

const own = (namespace: string) => `apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: ${namespace}
`

const files = (namespace: string) => ({
  'deploy/kustomization.yaml': 'resources:\n  - web.yaml\n',
  'deploy/web.yaml': own(namespace),
})

/** Capsule's document for Flux, word for word: oil in oil-system (which makes oil-dev), gas in gas-system (gas-dev). */
export const recipe: World = {
  name: 'recipe',
  repositories: [
    {
      name: 'fleet',
      url: FLEET_URL,
      branch: 'main',
      files: {
        ...Object.fromEntries(Object.entries(fleetFiles).filter(([path]) => !/^tenants\/.*-team/.test(path))),
        [LOCKDOWN]: fleetFiles[LOCKDOWN]!.replace('service-account=default', `service-account=${ACCOUNT}`),
        'clusters/staging/kustomization.yaml': 'resources: [flux-system, capsule.yaml, tenants.yaml]\n',
        'clusters/staging/capsule.yaml': CAPSULE,
        'capsule/configuration.yaml': CONFIGURATION,
        'capsule/cert-manager.yaml': RELEASE,
        'tenants/kustomization.yaml': 'resources: [oil.yaml, gas.yaml]\n',
        'tenants/oil.yaml': tenant('oil', DEV_URL),
        'tenants/gas.yaml': tenant('gas', OPS_URL),
      },
    },
    { name: 'dev', url: DEV_URL, branch: 'main', files: files('oil-dev') },
    { name: 'ops', url: OPS_URL, branch: 'main', files: files('gas-dev') },
  ],
}
