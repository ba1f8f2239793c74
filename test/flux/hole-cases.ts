/** A part of a build that fails, added to one that does not. */
export interface HoleCase {
  /** Added to the end of kustomization.yaml. */
  readonly fields?: string
  /** Added to its resources. */
  readonly resources?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** The same without the part, where it is not everything that was added. */
  readonly without?: Pick<HoleCase, 'fields' | 'resources' | 'files' | 'spec'>
  /** Added to the spec of the Flux Kustomization. */
  readonly spec?: string
  /** What is reported: whether Flux refuses it, the effect, code, and place. */
  readonly holes: readonly string[]
  /** The real program cannot be asked: it would need a network, or a key. */
  readonly notAsked?: true
  /** Flux refuses it as it is here, but builds it where a patch takes the part away: `built` is said of both. */
  readonly careful?: true
}

export const configMap = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}data:\n  a: x\n`

export const HEALTHY = {
  'a.yaml': configMap('a'),
  'web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx:1
        envFrom:
        - configMapRef: {name: a}
`,
}

const patch = (target: string, text: string) => `patches:\n- target: ${target}\n  patch: |\n    ${text}\n`
const REMOVE = '[{"op": "remove", "path": "/spec/nope"}]'
const K = 'kustomization.yaml'

export const HOLE_CASES: Readonly<Record<string, HoleCase>> = {
  'a file that is not there': { resources: ['nope.yaml'], holes: [`refused, missing: kustomize-missing @${K}:4`] },
  'a file of invalid YAML': {
    resources: ['b.yaml'],
    files: { 'b.yaml': `${configMap('b')}---\na: [\n` },
    holes: ['refused, missing: yaml-syntax @b.yaml:9'],
  },
  'a document that is not an object': {
    resources: ['b.yaml'],
    files: { 'b.yaml': `${configMap('b')}---\nkind: Nameless\napiVersion: v1\n` },
    without: { resources: ['b.yaml'], files: { 'b.yaml': configMap('b') } },
    holes: ['refused, missing: invalid-object @b.yaml:8'],
  },
  'a document that is a text': {
    resources: ['b.yaml'],
    files: { 'b.yaml': `${configMap('b')}---\njust a text\n` },
    without: { resources: ['b.yaml'], files: { 'b.yaml': configMap('b') } },
    holes: ['refused, missing: render-limits @b.yaml:8'],
  },
  'YAML that readers read differently': {
    resources: ['b.yaml'],
    files: { 'b.yaml': `${configMap('b')}  b: !foo x\n` },
    holes: ['built, missing: yaml-ambiguous @b.yaml:7'],
  },
  'an object twice': {
    resources: ['b.yaml'],
    files: { 'b.yaml': configMap('a', '  labels: {b: c}\n') },
    holes: ['refused, missing: kustomize-invalid @b.yaml:2'],
  },
  'a directory that is not there': { resources: ['../base'], holes: [`refused, missing: kustomize-invalid @${K}:4`] },
  'a base without a kustomization file': {
    resources: ['base'],
    files: { 'base/b.yaml': configMap('b') },
    holes: [`refused, missing: kustomize-missing @${K}:4`],
  },
  'a base with a broken kustomization file': {
    resources: ['base'],
    files: { 'base/kustomization.yaml': 'resources: [b.yaml\n', 'base/b.yaml': configMap('b') },
    holes: ['refused, missing: yaml-syntax @base/kustomization.yaml:2'],
  },
  'a base with two kustomization files': {
    resources: ['base'],
    files: { 'base/kustomization.yaml': 'resources: []\n', 'base/kustomization.yml': 'resources: []\n' },
    holes: ['refused, missing: kustomize-multiple-files @base/kustomization.yml:1'],
  },
  'a file of a base': {
    resources: ['base'],
    files: { 'base/kustomization.yaml': 'resources: [b.yaml, nope.yaml]\n', 'base/b.yaml': configMap('b') },
    without: {
      resources: ['base'],
      files: { 'base/kustomization.yaml': 'resources: [b.yaml]\n', 'base/b.yaml': configMap('b') },
    },
    holes: ['refused, missing: kustomize-missing @base/kustomization.yaml:1'],
  },
  'an unknown field of a base': {
    resources: ['base'],
    files: { 'base/kustomization.yaml': 'resources: [b.yaml]\nfoo: bar\n', 'base/b.yaml': configMap('b') },
    without: {
      resources: ['base'],
      files: { 'base/kustomization.yaml': 'resources: [b.yaml]\n', 'base/b.yaml': configMap('b') },
    },
    holes: ['refused, different: kustomize-unsupported @base/kustomization.yaml:2'],
  },
  'a directory that leads to itself': {
    resources: ['base'],
    files: { 'base/kustomization.yaml': 'resources: [../base]\n' },
    without: { resources: ['base'], files: { 'base/kustomization.yaml': 'resources: []\n' } },
    holes: ['refused, missing: render-limits @base/kustomization.yaml:1'],
  },
  'a component among resources': {
    resources: ['c'],
    files: {
      'c/kustomization.yaml': 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: []\n',
    },
    holes: [`refused, missing: kustomize-invalid @${K}:4`],
  },
  'a remote file': {
    resources: ['https://example.com/b.yaml'],
    holes: [`built, missing: kustomize-unsupported @${K}:4`],
    notAsked: true,
  },
  'an unknown field': { fields: 'foo: bar\n', holes: [`built, different: kustomize-unsupported @${K}:4`] },
  variables: {
    fields: 'vars:\n- name: X\n  objref: {kind: ConfigMap, name: a, apiVersion: v1}\n',
    holes: [`built, different: kustomize-unsupported @${K}:4`],
  },
  'charts to inflate': {
    fields: 'helmCharts:\n- name: x\n  repo: https://example.com\n',
    holes: [`refused, missing: kustomize-unsupported @${K}:4`],
  },
  'a plugin': {
    fields: 'generators:\n- g.yaml\n',
    files: { 'g.yaml': 'apiVersion: example.com/v1\nkind: Gen\nmetadata: {name: x}\n' },
    holes: ['refused, different: kustomize-unsupported @g.yaml:1'],
  },
  'a validator': {
    fields: 'validators:\n- g.yaml\n',
    files: { 'g.yaml': 'apiVersion: example.com/v1\nkind: Gen\nmetadata: {name: x}\n' },
    holes: [`refused, different: kustomize-unsupported @${K}:5`],
  },
  'another spelling of a field': {
    fields: 'nameprefix: x-\n',
    holes: [`built, different: kustomize-unsupported @${K}:4`],
  },
  'a field of another type': { fields: 'namePrefix: [x]\n', holes: [`refused, different: kustomize-invalid @${K}:4`] },
  'a patch of invalid YAML': {
    fields: patch('{kind: Deployment}', 'a: ['),
    holes: [`refused, different: yaml-syntax @${K}:7`],
  },
  'a patch without its object': {
    fields: 'patches:\n- path: p.yaml\n',
    files: { 'p.yaml': configMap('nope') },
    holes: ['refused, different: kustomize-invalid @p.yaml:1'],
  },
  'a patch whose file is not there': {
    fields: 'patches:\n- path: p.yaml\n',
    holes: [`refused, different: kustomize-missing @${K}:5`],
  },
  'one of three patches': {
    fields: `${patch('{kind: ConfigMap}', '[{"op": "add", "path": "/data/x", "value": "1"}]')}- target: {kind: Deployment}\n  patch: '${REMOVE}'\n- target: {kind: ConfigMap}\n  patch: '[{"op": "add", "path": "/data/y", "value": "1"}]'\n`,
    without: {
      fields: `${patch('{kind: ConfigMap}', '[{"op": "add", "path": "/data/x", "value": "1"}]')}- target: {kind: ConfigMap}\n  patch: '[{"op": "add", "path": "/data/y", "value": "1"}]'\n`,
    },
    holes: [`refused, different: kustomize-invalid @${K}:9`],
  },
  'a patch that fits the first of two objects': {
    fields: patch('{name: a|web}', '[{"op": "remove", "path": "/data/a"}]'),
    holes: [`refused, different: kustomize-invalid @${K}:7`],
  },
  'a patch of patchesStrategicMerge': {
    fields: 'patchesStrategicMerge:\n- p.yaml\n',
    files: { 'p.yaml': configMap('nope') },
    holes: ['refused, different: kustomize-invalid @p.yaml:1'],
  },
  'a patch of patchesJson6902': {
    fields: `patchesJson6902:\n- target: {version: v1, kind: Deployment, name: web}\n  patch: '${REMOVE}'\n`,
    holes: [`refused, different: kustomize-invalid @${K}:6`],
  },
  'a generator whose file is not there': {
    fields: 'configMapGenerator:\n- name: g\n  files: [nope.txt]\n- name: h\n  literals: [a=b]\n',
    without: { fields: 'configMapGenerator:\n- name: h\n  literals: [a=b]\n' },
    holes: [`refused, different: kustomize-missing @${K}:6`],
  },
  'a generator for an object that is not there': {
    fields: 'configMapGenerator:\n- name: g\n  behavior: merge\n  literals: [a=b]\n',
    holes: [`refused, different: kustomize-invalid @${K}:5`],
  },
  'a component that is not there': {
    fields: 'components:\n- c\n',
    holes: [`refused, different: kustomize-missing @${K}:5`],
  },
  'a patch of a component': {
    fields: 'components:\n- c\n',
    files: {
      'c/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: x-\n${patch('{kind: Deployment}', REMOVE)}`,
    },
    without: {
      fields: 'components:\n- c\n',
      files: {
        'c/kustomization.yaml': 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: x-\n',
      },
    },
    holes: ['refused, different: kustomize-invalid @c/kustomization.yaml:7'],
  },
  'an object that a namespace does not fit': {
    fields: 'namespace: ns\n',
    resources: ['b.yaml'],
    files: { 'b.yaml': 'apiVersion: example.com/v1\nkind: X\nmetadata:\n  name: b\n  namespace: {a: b}\n' },
    without: { fields: 'namespace: ns\n' },
    careful: true,
    holes: ['built, missing: invalid-object @b.yaml:5'],
  },
  'the same, which a patch makes fit': {
    fields: `namespace: ns\n${patch('{kind: X}', '[{"op": "remove", "path": "/metadata/namespace"}]')}`,
    resources: ['b.yaml'],
    files: { 'b.yaml': 'apiVersion: example.com/v1\nkind: X\nmetadata:\n  name: b\n  namespace: {a: b}\n' },
    without: { fields: 'namespace: ns\n' },
    holes: ['built, missing: invalid-object @b.yaml:5'],
  },
  'an infinite number': {
    resources: ['b.yaml'],
    files: { 'b.yaml': 'apiVersion: example.com/v1\nkind: X\nmetadata:\n  name: b\nspec:\n  a: -.inf\n' },
    careful: true,
    holes: ['built, missing: yaml-ambiguous @b.yaml:6'],
  },
  'the same, which a patch takes away': {
    fields: patch('{kind: X}', '{apiVersion: example.com/v1, kind: X, metadata: {name: b}, spec: {a: null}}'),
    resources: ['b.yaml'],
    files: { 'b.yaml': 'apiVersion: example.com/v1\nkind: X\nmetadata:\n  name: b\nspec:\n  a: -.inf\n' },
    holes: ['built, missing: yaml-ambiguous @b.yaml:6'],
  },
  'an object that labels do not fit': {
    fields: 'commonLabels: {x: z}\n',
    resources: ['b.yaml'],
    files: { 'b.yaml': 'apiVersion: v1\nkind: Service\nmetadata:\n  name: b\nspec: [x]\n' },
    without: { fields: 'commonLabels: {x: z}\n' },
    holes: ['refused, missing: kustomize-invalid @b.yaml:5'],
  },
  'an object that images do not fit': {
    fields: 'images: [{name: nginx, newTag: "2"}]\n',
    resources: ['b.yaml'],
    files: {
      'b.yaml':
        'apiVersion: v1\nkind: Pod\nmetadata:\n  name: b\nspec:\n  containers:\n  - name: x\n    image: [nginx]\n',
    },
    without: { fields: 'images: [{name: nginx, newTag: "2"}]\n' },
    holes: ['refused, missing: kustomize-invalid @b.yaml:8'],
  },
  'an entry of images': {
    fields: 'images:\n- {name: "nginx(", newTag: "2"}\n- {name: other, newTag: "3"}\n',
    without: { fields: 'images:\n- {name: other, newTag: "3"}\n' },
    holes: [`refused, different: kustomize-invalid @${K}:5`],
  },
  'replicas of nothing': {
    fields: 'replicas:\n- {name: nope, count: 2}\n- {name: web, count: 3}\n',
    without: { fields: 'replicas:\n- {name: web, count: 3}\n' },
    holes: [`refused, different: kustomize-invalid @${K}:5`],
  },
  'a replacement without its source': {
    fields:
      'replacements:\n- source: {kind: ConfigMap, name: nope}\n  targets:\n  - select: {kind: Deployment}\n    fieldPaths: [metadata.name]\n',
    holes: [`refused, different: kustomize-invalid @${K}:5`],
  },
  'a configuration that is not there': {
    fields: 'configurations:\n- c.yaml\n',
    holes: [`refused, different: kustomize-missing @${K}:5`],
  },
  'a transformer that fails': {
    fields: 'transformers:\n- t.yaml\n',
    files: {
      't.yaml': `apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\ntarget: {kind: Deployment}\npatch: '${REMOVE}'\n`,
    },
    holes: ['refused, different: kustomize-invalid @t.yaml:5'],
  },
  'an order that is none': {
    fields: 'sortOptions: {order: alphabet}\n',
    holes: [`refused, different: kustomize-invalid @${K}:4`],
  },
  'a patch of the spec': {
    spec: `  patches:\n  - target: {kind: ConfigMap}\n    patch: '[{"op": "add", "path": "/data/y", "value": "1"}]'\n  - target: {kind: Deployment}\n    patch: '${REMOVE}'\n`,
    without: {
      spec: `  patches:\n  - target: {kind: ConfigMap}\n    patch: '[{"op": "add", "path": "/data/y", "value": "1"}]'\n`,
    },
    holes: ['refused, different: kustomize-invalid @k.yaml:9'],
  },
  'a component of the spec': {
    spec: '  components: [nope]\n',
    holes: ['refused, different: kustomize-missing @k.yaml:5'],
  },
  'a variable that is not set': {
    resources: ['b.yaml'],
    files: { 'b.yaml': configMap('b', `  labels: {b: "\${NOPE}"}\n`) },
    spec: '  postBuild: {substitute: {SET: x}}\n',
    without: { spec: '  postBuild: {substitute: {SET: x}}\n' },
    holes: ['refused, missing: flux-missing-variable @b.yaml:5'],
  },
  'an expression that is none': {
    resources: ['b.yaml'],
    files: { 'b.yaml': configMap('b', `  labels: {b: "\${A"}\n`) },
    spec: '  postBuild: {substitute: {SET: x}}\n',
    without: { spec: '  postBuild: {substitute: {SET: x}}\n' },
    holes: ['refused, missing: flux-invalid @b.yaml:5'],
  },
  'a value that is more than a value': {
    resources: ['b.yaml'],
    files: { 'b.yaml': configMap('b', `  labels:\n    b: \${SET}\n`) },
    spec: '  postBuild: {substitute: {SET: "x: y"}}\n',
    without: { spec: '  postBuild: {substitute: {SET: "x: y"}}\n' },
    holes: ['refused, missing: flux-invalid @b.yaml:6'],
  },
  'a name that a variable empties': {
    resources: ['b.yaml'],
    files: { 'b.yaml': configMap(`\${SET}`) },
    spec: '  postBuild: {substitute: {SET: ""}}\n',
    without: { spec: '  postBuild: {substitute: {SET: ""}}\n' },
    holes: ['built, missing: invalid-object @b.yaml:1'],
  },
  'a kind that is no object': {
    resources: ['b.yaml'],
    files: { 'b.yaml': 'apiVersion: v1\nkind: PodExecOptions\nmetadata: {name: b}\n' },
    holes: ['refused, missing: flux-invalid @b.yaml:1'],
  },
}
