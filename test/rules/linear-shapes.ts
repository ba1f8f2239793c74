/** What a tenant can write many of, by what it is: `n` objects of its namespace as YAML. */
type Shape = (n: number) => readonly string[]

/** The label by which roles select each other. */
export const LABEL = 'taken-in'

const NAMESPACE = 'apps'

function manifest(apiVersion: string, kind: string, name: string, body: string): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ${NAMESPACE}}\n${body}`
}

const each = (n: number, of: (i: number) => string) => Array.from({ length: n }, (_, i) => of(i))
const source = (kind: string, spec: (i: number) => string) => (i: number) =>
  manifest('source.toolkit.fluxcd.io/v1', kind, `s${i}`, `spec: {interval: 5m, ${spec(i)}}`)
const git = (more = '') =>
  source(
    'GitRepository',
    i => `url: "https://github.com/other/x${i}", ref: {branch: main}${more.replaceAll('%', String(i))}`,
  )
const secret = (i: number) => manifest('v1', 'Secret', `c${i}`, 'type: Opaque')
const release = (spec: (i: number) => string) => (i: number) =>
  manifest(
    'helm.toolkit.fluxcd.io/v2',
    'HelmRelease',
    `h${i}`,
    `spec: {interval: 5m, serviceAccountName: dev-team, ${spec(i)}}`,
  )
const kustomization = (spec: string) => (i: number) =>
  manifest(
    'kustomize.toolkit.fluxcd.io/v1',
    'Kustomization',
    `k${i}`,
    `spec: {interval: 5m, prune: true, serviceAccountName: dev-team, sourceRef: {kind: GitRepository, name: none}, ${spec.replaceAll('%', String(i))}}`,
  )
const binding =
  (subject: string, role = 'view') =>
  (i: number) =>
    manifest(
      'rbac.authorization.k8s.io/v1',
      'RoleBinding',
      `b${i}`,
      `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${role.replaceAll('%', String(i))}}\nsubjects: [${subject.replaceAll('%', String(i))}]`,
    )
const generator = (i: number) =>
  manifest(
    'source.extensions.fluxcd.io/v1beta1',
    'ArtifactGenerator',
    `a${i}`,
    `spec: {sources: [{alias: a, kind: GitRepository, name: n${i}}], artifacts: [{name: x${i}}]}`,
  )
const account = (i: number) => manifest('v1', 'ServiceAccount', `d${i}`, `secrets: [{name: x${i}}]`)
const notify = (kind: string, spec: (i: number) => string) => (i: number) =>
  manifest('notification.toolkit.fluxcd.io/v1', kind, `n${i}`, `spec: {${spec(i)}}`)
const pod = (i: number) =>
  manifest(
    'v1',
    'Pod',
    `p${i}`,
    `spec: {serviceAccountName: d${i}, containers: [{name: a, image: "x:1", envFrom: [{secretRef: {name: c${i}}}]}]}`,
  )
const ingress = (i: number) =>
  manifest('networking.k8s.io/v1', 'Ingress', `i${i}`, `spec: {rules: [{host: h${i}.example.com}]}`)
const clusterRole = (selects: (i: number) => string) => (i: number) =>
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r${i}, labels: {${LABEL}: "${i}"}}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {${LABEL}: "${selects(i)}"}}]}`

export const shapes: Readonly<Record<string, Shape>> = {
  'idle GitRepositories': n => each(n, git()),
  'GitRepositories that include each other': n => each(n, git(', include: [{repository: {name: s%0}}]')),
  'GitRepositories with a Secret each': n => [...each(n, git(', secretRef: {name: c%}')), ...each(n, secret)],
  'GitRepositories that sign in as an App': n => each(n, git(', provider: github, secretRef: {name: c%}')),
  'OCIRepositories of a cloud': n =>
    each(
      n,
      source('OCIRepository', i => `provider: aws, url: "oci://r${i}.example.com/x"`),
    ),
  Buckets: n =>
    each(
      n,
      source('Bucket', i => `endpoint: s3.example.com, bucketName: b${i}`),
    ),
  'HelmCharts of other GitRepositories': n => [
    ...each(n, git()),
    ...each(n, i =>
      manifest(
        'source.toolkit.fluxcd.io/v1',
        'HelmChart',
        `c${i}`,
        `spec: {chart: x, sourceRef: {kind: GitRepository, name: n${i}}}`,
      ),
    ),
  ],
  'ArtifactGenerators of other GitRepositories': n => [...each(n, git()), ...each(n, generator)],
  'HelmReleases of GitRepositories': n => [
    ...each(n, git()),
    ...each(
      n,
      release(i => `chart: {spec: {chart: x, sourceRef: {kind: GitRepository, name: s${i}}}}`),
    ),
  ],
  'HelmReleases with a kubeconfig': n => [
    ...each(
      n,
      release(i => `chart: {spec: {chart: x${i}}}, kubeConfig: {secretRef: {name: c${i}}}`),
    ),
    ...each(n, secret),
  ],
  'Kustomizations that decrypt': n => [
    ...each(n, kustomization('decryption: {provider: sops, secretRef: {name: c%}}')),
    ...each(n, account),
  ],
  'Kustomizations with accounts': n => [...each(n, kustomization('path: ./x%')), ...each(n, account)],
  'Secrets beside sources of the tenant': n => [...each(n, secret), ...each(n, git())],
  'pods with accounts and Secrets': n => [...each(n, pod), ...each(n, account), ...each(n, secret)],
  'RoleBindings of foreign accounts': n => each(n, binding('{kind: ServiceAccount, name: a%, namespace: ops}')),
  'RoleBindings of people': n => each(n, binding('{kind: User, apiGroup: rbac.authorization.k8s.io, name: u%}')),
  'RoleBindings of roles that are not there': n =>
    each(n, binding('{kind: ServiceAccount, name: dev-team, namespace: apps}', 'none')),
  Ingresses: n => each(n, ingress),
  'Receivers with Secrets': n => [
    ...each(
      n,
      notify(
        'Receiver',
        i => `type: generic, secretRef: {name: c${i}}, resources: [{kind: GitRepository, name: s${i}}]`,
      ),
    ),
    ...each(n, secret),
  ],
  'Alerts and Providers': n => [
    ...each(
      n,
      notify('Alert', i => `providerRef: {name: n${i}}, eventSources: [{kind: Kustomization, name: k${i}}]`),
    ),
    ...each(
      n,
      notify('Provider', i => `type: github, address: "https://github.com/acme/x${i}", secretRef: {name: c${i}}`),
    ),
  ],
  'ClusterRoles that select each other': n =>
    each(
      n,
      clusterRole(i => String(i + 1)),
    ),
  'ClusterRoles that select all': n =>
    each(
      n,
      clusterRole(() => '0'),
    ),
  'bindings to ClusterRoles that select all': n => [
    ...each(
      n,
      clusterRole(() => '0'),
    ),
    ...each(n, binding('{kind: ServiceAccount, name: dev-team, namespace: apps}', 'r%')),
  ],
}
