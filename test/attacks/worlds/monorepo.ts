import { FLEET_URL, fleetFiles } from '../../fleet/mini-fleet.ts'
import type { World } from './index.ts'

const URL = 'https://github.com/acme/apps'

const tenant = (name: string) => `apiVersion: v1
kind: Namespace
metadata:
  name: ${name}
  labels:
    toolkit.fluxcd.io/tenant: ${name}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${name}
  namespace: ${name}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: gotk-reconciler
  namespace: ${name}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects:
  - kind: ServiceAccount
    name: ${name}
    namespace: ${name}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: apps
  namespace: ${name}
spec:
  interval: 1m
  url: ${URL}
  ref:
    branch: main
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: ${name}
spec:
  serviceAccountName: ${name}
  interval: 5m
  sourceRef:
    kind: GitRepository
    name: apps
  path: ./${name}
  prune: true
`

const web = (namespace: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
spec:
  replicas: 1
`

/** Two tenants, team-a and team-b, who deploy from directories of one repository. */
export const monorepo: World = {
  name: 'monorepo',
  repositories: [
    {
      name: 'fleet',
      url: FLEET_URL,
      branch: 'main',
      files: {
        ...fleetFiles,
        'tenants/kustomization.yaml': 'resources: [team-a.yaml, team-b.yaml]\n',
        'tenants/team-a.yaml': tenant('team-a'),
        'tenants/team-b.yaml': tenant('team-b'),
      },
    },
    {
      name: 'apps',
      url: URL,
      branch: 'main',
      files: {
        'team-a/kustomization.yaml': 'resources: [deploy]\n',
        'team-a/deploy/kustomization.yaml': 'resources: [web.yaml]\n',
        'team-a/deploy/web.yaml': web('team-a'),
        'team-b/kustomization.yaml': 'resources: [deploy]\n',
        'team-b/deploy/kustomization.yaml': 'resources: [web.yaml]\n',
        'team-b/deploy/web.yaml': web('team-b'),
      },
    },
  ],
}
