import { shapes } from '../../test/rules/linear-shapes.ts'
import { KUSTOMIZATION } from './platform-files.ts'

/** Objects in one file: the reader takes at most 5,000 documents of one. */
const IN_FILE = 1_000
/** What the issue that taught us about it had of one kind. */
const MANY = 3_300

type Added = ReadonlyMap<string, string>

/** What the hostile tenant adds to its own repository, by what it tries. */
export function hostileWays(tenant: string): ReadonlyMap<string, () => Added> {
  const own = (text: string) =>
    text.replaceAll('namespace: apps', `namespace: ${tenant}`).replaceAll('dev-team', tenant)
  const many = Object.entries(shapes).map(([what, shape]) => [what, () => objects(shape(MANY).map(own))] as const)
  return new Map<string, () => Added>([
    ...many,
    ...Object.entries(files).map(([what, of]) => [what, () => of(tenant)] as const),
  ])
}

const numbers = (count: number) => [...Array(count).keys()]

function objects(all: readonly string[], more = ''): Added {
  const parts = numbers(Math.ceil(all.length / IN_FILE)).map(part => all.slice(part * IN_FILE, (part + 1) * IN_FILE))
  const list = parts.map((_part, index) => `  - hostile${index}.yaml\n`).join('')
  const overlay = `${KUSTOMIZATION}resources:\n${list}${more}`
  return new Map([
    ['staging/kustomization.yaml', overlay],
    ...parts.map((part, index) => [`staging/hostile${index}.yaml`, part.join('\n---\n')] as const),
  ])
}

const map = (tenant: string, name: string, data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${tenant}}\ndata: {${data}}`
const lines = (count: number, of: (index: number) => string) => `${numbers(count).map(of).join('\n')}\n`

/** What is tried with files, and with what renders them. */
const files: Readonly<Record<string, (tenant: string) => Added>> = {
  'macros of macros in .gitattributes': () =>
    new Map([['.gitattributes', `${lines(60, i => `[attr]m${i} m${i - 1} m${i - 1}`)}* m59\n`]]),
  'lines of ignore files': () => new Map([['.sourceignore', lines(4_999, i => `/x${i}*y*z`)]]),
  'transformers over many objects': tenant => {
    const labels = lines(MANY, i => `  - pairs: {l${i}: x}`)
    return objects(
      numbers(2_000).map(i => map(tenant, `c${i}`, 'a: b')),
      `labels:\n${labels}`,
    )
  },
  'tiny ConfigMaps': tenant => objects(numbers(9_000).map(i => map(tenant, `c${i}`, 'a: b'))),
  'Secrets of many open values': tenant => {
    const values = lines(1_000, i => `  k${i}: "v${'x'.repeat(40)}${i}"`)
    const secret = (i: number) =>
      `apiVersion: v1\nkind: Secret\nmetadata: {name: s${i}, namespace: ${tenant}}\nstringData:\n${values}`
    return objects(numbers(50).map(secret))
  },
  'bindings in namespaces of others': tenant =>
    objects(
      numbers(4_000).map(
        i =>
          `apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: x, namespace: ns${i}}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}\nsubjects: [{kind: ServiceAccount, name: ${tenant}, namespace: ${tenant}}]`,
      ),
    ),
  'releases of one directory': tenant => {
    const node = (i: number) =>
      `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k${i}, namespace: ${tenant}}\nspec: {interval: 5m, prune: true, serviceAccountName: ${tenant}, path: ./base, sourceRef: {kind: GitRepository, name: ${tenant}}}`
    return objects(numbers(900).map(node))
  },
  'Kustomizations of one directory': tenant => {
    const node = (i: number) =>
      `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k${i}, namespace: ${tenant}}\nspec: {interval: 5m, prune: true, serviceAccountName: ${tenant}, path: ./many, sourceRef: {kind: GitRepository, name: ${tenant}}}`
    const many = numbers(10).map(i => map(tenant, `c${i}`, 'a: b'))
    return new Map([...objects(numbers(999).map(node)), ['many/all.yaml', many.join('\n---\n')]])
  },
  'values that one Kustomization substitutes': tenant => {
    const from = lines(MANY, i => `      - {kind: ConfigMap, name: c${i}}`)
    const node = `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k, namespace: ${tenant}}\nspec:\n  interval: 5m\n  prune: true\n  serviceAccountName: ${tenant}\n  path: ./many\n  sourceRef: {kind: GitRepository, name: ${tenant}}\n  postBuild:\n    substituteFrom:\n${from}`
    return new Map([
      ...objects([node, ...numbers(MANY).map(i => map(tenant, `c${i}`, 'a: b'))]),
      ['many/all.yaml', map(tenant, 'm', `a: "\${a}"`)],
    ])
  },
  'sources that include sources': tenant => {
    const source = (i: number) => {
      const below = numbers(20).map(j => `{repository: {name: s${(Math.floor(i / 20) + 1) * 20 + j}}, toPath: d${j}}`)
      return `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: s${i}, namespace: ${tenant}}\nspec: {interval: 5m, url: "https://github.com/acme/${tenant}", ref: {branch: main}, include: [${below.join(', ')}]}`
    }
    const node = (i: number) =>
      `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k${i}, namespace: ${tenant}}\nspec: {interval: 5m, prune: true, serviceAccountName: ${tenant}, path: ./x, sourceRef: {kind: GitRepository, name: s${i % 20}}}`
    return objects([...numbers(100).map(source), ...numbers(900).map(node)])
  },
  'values that releases share': tenant => {
    const release = (i: number) =>
      `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: h${i}, namespace: ${tenant}}\nspec: {interval: 5m, serviceAccountName: ${tenant}, chart: {spec: {chart: x, version: 1.0.0, sourceRef: {kind: HelmRepository, name: c}}}, valuesFrom: [{kind: ConfigMap, name: values}]}`
    const values = lines(MANY, i => `    v${i}: x`)
    const shared = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values, namespace: ${tenant}}\ndata:\n  values.yaml: |\n${values}`
    return objects([shared, ...numbers(MANY).map(release)])
  },
}
