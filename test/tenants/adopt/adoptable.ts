import type { Tree } from '../../../src/git/tree.ts'
import type { AdoptableFleet } from '../../../src/tenants/adopt/adoption.ts'
import { fleetAt } from '../../../src/tenants/onboard/tenant-layout.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import type { Files } from '../../fleet/fleet-of.ts'

export const URL = 'https://github.com/acme/home'

/** A Flux Kustomization of the platform, without an account. */
export const kustomization = (
  name: string,
  path: string,
  more = '',
): string => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: flux-system
spec:
  interval: 15m
  path: ${path}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
${more}`

/** One object; `more`: its other fields. */
export const object = (apiVersion: string, kind: string, name: string, namespace = '', more = ''): string => `---
apiVersion: ${apiVersion}
kind: ${kind}
metadata:
  name: ${name}
${namespace ? `  namespace: ${namespace}\n` : ''}${more}`

const DEPLOYMENT = `spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

const ROLE = `rules:
- {apiGroups: [''], resources: [pods], verbs: [get, list]}
`

const boundTo = (
  kind: string,
  name: string,
) => `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ${kind}, name: ${name}}
subjects: [{kind: ServiceAccount, name: web, namespace: web}]
`

const RBAC = 'rbac.authorization.k8s.io/v1'

/** What the Kustomization \`web\` of these tests applies: in its own namespace, in another one, and in the whole cluster. */
export const WEB = [
  object('v1', 'Namespace', 'web'),
  object('apps/v1', 'Deployment', 'web', 'web', DEPLOYMENT),
  object('v1', 'ConfigMap', 'web', 'web', 'data: {a: b}\n'),
  object('v1', 'ConfigMap', 'dashboard', 'monitoring', 'data: {a: b}\n'),
  object('v1', 'ServiceAccount', 'web', 'web'),
  object(RBAC, 'Role', 'web', 'web', ROLE),
  object(RBAC, 'RoleBinding', 'web', 'web', boundTo('Role', 'web')),
  object(RBAC, 'RoleBinding', 'view', 'web', boundTo('ClusterRole', 'view')),
  object('scheduling.k8s.io/v1', 'PriorityClass', 'web', '', 'value: 5\n'),
].join('')

/** A fleet of one cluster whose Kustomizations run as cluster-admin: \`apps\` has one file for each of them. */
export const homeFleet = (more: Files = {}): Files => ({
  'clusters/home/flux-system/gotk-sync.yaml': `${object(
    'source.toolkit.fluxcd.io/v1',
    'GitRepository',
    'flux-system',
    'flux-system',
    `spec: {interval: 1m, url: '${URL}', ref: {branch: main}}\n`,
  )}---\n${kustomization('flux-system', './clusters/home')}`,
  'clusters/home/flux-system/kustomization.yaml': 'resources: [gotk-sync.yaml]\n',
  'clusters/home/apps/web.yaml': kustomization('web', './apps/web', '  wait: true\n'),
  'clusters/home/apps/monitoring.yaml': kustomization('monitoring', './apps/monitoring'),
  'apps/web/objects.yaml': WEB,
  'apps/monitoring/objects.yaml':
    object('v1', 'Namespace', 'monitoring') + object('v1', 'Secret', 'grafana', 'monitoring'),
  ...more,
})

export function adoptable(files: Files): AdoptableFleet {
  const build = (tree: Tree) => fleetAt(tree, URL, 'main')
  const tree = treeOf(files)
  return { fleet: build(tree), tree, url: URL, build }
}

/** These files with those of a plan. */
export const withFiles = (
  files: Files,
  changed: readonly { readonly path: string; readonly content: string }[],
): Files => ({
  ...files,
  ...Object.fromEntries(changed.map(({ path, content }) => [path, content])),
})
