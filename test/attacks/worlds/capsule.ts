import { acme } from './acme.ts'
import type { World } from './index.ts'

const RBAC = 'rbac.authorization.k8s.io'
const account = '{kind: ServiceAccount, name: gitops-reconciler, namespace: apps}'

const TENANT = `apiVersion: v1
kind: Namespace
metadata:
  name: apps
  labels: {toolkit.fluxcd.io/tenant: dev-team, capsule.clastix.io/tenant: dev-team}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: gitops-reconciler, namespace: apps}
---
apiVersion: capsule.clastix.io/v1beta2
kind: Tenant
metadata: {name: dev-team}
spec:
  additionalRoleBindings:
    - clusterRoleName: cluster-admin
      subjects: [${account}]
  owners:
    - {kind: ServiceAccount, name: 'system:serviceaccount:apps:gitops-reconciler'}
---
apiVersion: ${RBAC}/v1
kind: RoleBinding
metadata: {name: gitops-reconciler, namespace: apps}
roleRef: {apiGroup: ${RBAC}, kind: ClusterRole, name: cluster-admin}
subjects: [${account}]
---
apiVersion: ${RBAC}/v1
kind: ClusterRoleBinding
metadata: {name: capsule-namespace-provisioner-gitops-dev-team}
roleRef: {apiGroup: ${RBAC}, kind: ClusterRole, name: capsule-namespace-provisioner-gitops}
subjects: [{apiGroup: ${RBAC}, kind: Group, name: 'system:serviceaccounts:apps'}]
---
apiVersion: ${RBAC}/v1
kind: ClusterRole
metadata: {name: dev-team-impersonator}
rules:
  - {apiGroups: [''], resources: [users], verbs: [impersonate], resourceNames: ['system:serviceaccount:apps:gitops-reconciler']}
---
apiVersion: ${RBAC}/v1
kind: ClusterRoleBinding
metadata: {name: dev-team-impersonate}
roleRef: {apiGroup: ${RBAC}, kind: ClusterRole, name: dev-team-impersonator}
subjects: [${account}]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: dev-team, namespace: apps}
spec:
  interval: 1m
  url: https://github.com/acme/dev-team
  ref: {branch: main}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: dev-team, namespace: apps}
spec:
  kubeConfig: {secretRef: {name: gitops-reconciler-kubeconfig, key: kubeconfig}}
  interval: 5m
  sourceRef: {kind: GitRepository, name: dev-team}
  path: ./deploy
  prune: true
`

const SETUP = `apiVersion: capsule.clastix.io/v1beta2
kind: CapsuleConfiguration
metadata: {name: default}
spec:
  userGroups: [projectcapsule.dev, 'system:serviceaccounts:apps']
---
apiVersion: ${RBAC}/v1
kind: ClusterRole
metadata: {name: capsule-namespace-provisioner-gitops}
rules:
  - {apiGroups: [''], resources: [namespaces], verbs: [patch]}
`

/** The world acme with dev-team as a Capsule tenant, laid out as clastix/flux2-capsule-multi-tenancy; its home is apps. */
export const capsule: World = {
  name: 'capsule',
  repositories: acme.repositories.map(repository =>
    repository.name === 'fleet'
      ? { ...repository, files: { ...repository.files, ...changed(repository.files) } }
      : repository,
  ),
}

function changed(files: World['repositories'][number]['files']) {
  const lockdown = 'clusters/staging/flux-system/kustomization.yaml'
  return {
    [lockdown]: files[lockdown]!.replace('account=default', 'account=gitops-reconciler'),
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, capsule.yaml]\n',
    'clusters/staging/capsule.yaml': SETUP,
    'tenants/dev-team.yaml': TENANT,
  }
}
