import { deployment, map, one, type SameCase } from '../step.ts'

const ALL = { ...one, 'd.yaml': deployment('web') }
/** A builtin transformer or generator in a file of its own (testdata/file-transformer). */
const configured = (field: 'transformers' | 'generators', kind: string, fields: string, more = {}): SameCase => ({
  steps: [
    {
      files: {
        ...ALL,
        'kustomization.yaml': `resources: [a.yaml, d.yaml]\n${field}: [configured.yaml]\n`,
        'configured.yaml': `apiVersion: builtin\nkind: ${kind}\nmetadata: {name: one, namespace: NS}\n${fields}\n`,
        ...more,
      },
    },
  ],
})
const transformed = (kind: string, fields: string, more = {}) => configured('transformers', kind, fields, more)
const built = (text: string, more = {}): SameCase => ({
  steps: [{ files: { ...ALL, 'kustomization.yaml': `resources: [a.yaml, d.yaml]\n${text}\n`, ...more } }],
})
const CHECKED = 'commonLabels: {x: y, z: off}'

/** Transformers and generators in files, deprecated fields, and words that older YAML reads as booleans. */
export const FILES: Readonly<Record<string, SameCase>> = {
  'file: annotations': transformed(
    'AnnotationsTransformer',
    'annotations: {test: annotations}\nfieldSpecs: [{path: metadata/annotations, create: true}]',
  ),
  'file: labels': transformed(
    'LabelTransformer',
    'labels: {test: labels}\nfieldSpecs: [{path: metadata/labels, create: true}, {path: spec/template/metadata/labels, create: true, kind: Deployment}]',
  ),
  'file: prefix and suffix': transformed(
    'PrefixSuffixTransformer',
    'prefix: test-\nsuffix: -transform\nfieldSpecs: [{path: metadata/name}]',
  ),
  'file: namespace': transformed('NamespaceTransformer', 'fieldSpecs: [{path: metadata/namespace, create: true}]'),
  'file: image': transformed(
    'ImageTagTransformer',
    'imageTag: {name: web, newTag: 6.0.0}\nfieldSpecs: [{path: "spec/template/spec/containers[]/image"}]',
  ),
  'file: replicas': transformed(
    'ReplicaCountTransformer',
    'replica: {count: 2, name: web}\nfieldSpecs: [{path: spec/replicas, create: true, kind: Deployment}]',
  ),
  'file: a patch': transformed('PatchTransformer', 'path: patch.yaml', { 'patch.yaml': map('a', 'more: x') }),
  'file: a JSON6902 patch': transformed(
    'PatchJson6902Transformer',
    `target: {version: v1, kind: ConfigMap, name: a}\njsonOp: '[{"op": "add", "path": "/data/more", "value": "x"}]'`,
  ),
  'file: a strategic merge patch': transformed(
    'PatchStrategicMergeTransformer',
    'patches: |-\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a, namespace: NS}\n  data: {more: x}',
  ),
  'file: replacements': transformed(
    'ReplacementTransformer',
    'replacements: [{source: {kind: ConfigMap, name: a, fieldPath: data.key}, targets: [{select: {kind: Deployment}, fieldPaths: ["spec.template.spec.containers.0.image"]}]}]',
  ),
  'file: a ConfigMap generator': configured('generators', 'ConfigMapGenerator', 'literals: [a=16, b=24Gi]'),
  'file: a Secret generator': configured('generators', 'SecretGenerator', 'literals: [username=admin, password=p]'),
  'field: patchesStrategicMerge': built('patchesStrategicMerge: [patch.yaml]', { 'patch.yaml': map('a', 'more: x') }),
  'field: patchesJson6902': built(
    'patchesJson6902: [{target: {version: v1, kind: ConfigMap, name: a}, patch: "- {op: add, path: /data/more, value: x}"}]',
  ),
  'words: labels of an object': {
    steps: [{ files: { 'a.yaml': map('a', 'on: off, n: yes', ', labels: {x: y, "yes": "no"}') } }],
  },
  'words: labels of kustomization.yaml': built(CHECKED),
  'words: pairs of kustomization.yaml': built('labels: [{pairs: {x: y}}]'),
  'words: annotations of kustomization.yaml': built('commonAnnotations: {x: y, z: off, n1: 1, t: true}'),
  'words: common metadata': {
    steps: [{ files: ALL, spec: { commonMetadata: { labels: { x: 'y', on: 'off' }, annotations: { n: 'no' } } } }],
  },
  'words: options of a generator': built(
    'configMapGenerator: [{name: gen, namespace: NS, literals: [on=yes, y=n], options: {labels: {team: "y"}}}]',
  ),
  'words: a switch of a generator': built(
    'secretGenerator: [{name: gen, namespace: NS, literals: [a=b]}]\ngeneratorOptions: {disableNameSuffixHash: yes}',
  ),
  'words: a variable': {
    differs: ['messages of a refusal'],
    steps: [
      {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Flux
        files: { 'a.yaml': map('a', 'key: "${A}", more: "${B}"') },
        spec: { postBuild: { substitute: { A: 'yes', B: 'off' } } },
      },
    ],
  },
}
