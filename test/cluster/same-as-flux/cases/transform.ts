import { annotated, deployment, map, one, type SameCase, two } from '../step.ts'

const plain = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n'
const overlay = (kustomization: string, more: Readonly<Record<string, string>> = one) => ({
  files: {
    ...more,
    'kustomization.yaml': `resources: [${Object.keys(more)
      .filter(name => name.endsWith('.yaml') && !name.startsWith('p'))
      .join(', ')}]\n${kustomization}`,
  },
})
const remove = (name: string) =>
  `$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: NS}\n`
const value = (name: string, variable: string) => ({ 'a.yaml': map(name, `key: "${variable}"`) })

/** What the spec and kustomization.yaml put on top of files (transformers, patches, variables). */
export const TRANSFORM: Readonly<Record<string, SameCase>> = {
  'patch: strategic merge': {
    steps: [
      {
        files: one,
        spec: {
          patches: [
            { patch: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {more: text}\n' },
          ],
        },
      },
    ],
  },
  'patch: JSON6902': {
    steps: [
      {
        files: one,
        spec: {
          patches: [{ patch: '- {op: add, path: /data/more, value: text}', target: { kind: 'ConfigMap', name: 'a' } }],
        },
      },
    ],
  },
  'patch: by label': {
    steps: [
      {
        files: { ...one, 'b.yaml': map('b', 'k: v', ', labels: {pick: me}') },
        spec: {
          patches: [{ patch: '- {op: add, path: /data/more, value: text}', target: { labelSelector: 'pick=me' } }],
        },
      },
    ],
  },
  'patch: by a pattern of names': {
    steps: [
      {
        files: two,
        spec: { patches: [{ patch: '- {op: add, path: /data/more, value: text}', target: { name: '[ab]' } }] },
      },
    ],
  },
  'patch: taken back': {
    steps: [
      {
        files: one,
        spec: { patches: [{ patch: '- {op: add, path: /data/more, value: text}', target: { kind: 'ConfigMap' } }] },
      },
      { spec: {} },
    ],
  },
  'patch: delete an object': { steps: [{ files: two }, { spec: { patches: [{ patch: remove('b') }] } }] },
  'patch: delete two in one patch': {
    steps: [
      { files: { ...two, 'c.yaml': map('c') }, spec: { patches: [{ patch: `${remove('a')}---\n${remove('b')}` }] } },
    ],
  },
  'patch: delete two in two patches': {
    steps: [
      { files: { ...two, 'c.yaml': map('c') }, spec: { patches: [{ patch: remove('a') }, { patch: remove('b') }] } },
    ],
  },
  'patch: of what is not there': {
    differs: ['what does not build'],
    steps: [{ files: one, spec: { patches: [{ patch: remove('z') }] } }],
  },
  'transformer: common metadata': {
    steps: [{ files: one, spec: { commonMetadata: { labels: { team: 'x' }, annotations: { note: 'y' } } } }],
  },
  'transformer: common metadata taken back': {
    differs: ['`history[].digest`'],
    steps: [
      { files: one, spec: { commonMetadata: { labels: { team: 'x' }, annotations: { note: 'y' } } } },
      { spec: {} },
    ],
  },
  'transformer: common metadata over those of the object': {
    steps: [
      {
        files: { 'a.yaml': map('a', 'k: v', ', labels: {team: own, other: o}') },
        spec: { commonMetadata: { labels: { team: 'x' } } },
      },
    ],
  },
  'transformer: name prefix and suffix': { steps: [{ files: one, spec: { namePrefix: 'p-', nameSuffix: '-s' } }] },
  'transformer: prefix taken back': { steps: [{ files: one, spec: { namePrefix: 'p-' } }, { spec: {} }] },
  'transformer: target namespace': { steps: [{ files: { 'a.yaml': plain }, spec: { targetNamespace: 'NS' } }] },
  'transformer: no namespace at all': { differs: ['messages of a refusal'], steps: [{ files: { 'a.yaml': plain } }] },
  'transformer: a component': {
    steps: [
      {
        files: {
          'app/kustomization.yaml': 'resources: [a.yaml]\n',
          'app/a.yaml': map('a'),
          'label/kustomization.yaml':
            'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels: [{pairs: {part: x}}]\n',
        },
        spec: { path: './app', components: ['../label'] },
      },
    ],
  },
  'transformer: a component that is not there': {
    differs: ['what does not build'],
    steps: [{ files: one, spec: { components: ['../none'] } }],
  },
  'transformer: a component that may be missing': {
    steps: [{ files: one, spec: { components: ['none'], ignoreMissingComponents: true } }],
  },
  'transformer: images of the spec': {
    steps: [
      {
        files: { 'd.yaml': deployment('web') },
        spec: { images: [{ name: 'web', newName: 'registry/web', newTag: '2' }] },
      },
    ],
  },
  'transformer: images by digest': {
    steps: [
      {
        files: { 'd.yaml': deployment('web') },
        spec: { images: [{ name: 'web', digest: `sha256:${'1'.repeat(64)}` }] },
      },
    ],
  },
  'transformer: path below': {
    steps: [{ files: { 'x/y/a.yaml': map('a'), 'b.yaml': map('b') }, spec: { path: './x/y' } }],
  },
  'transformer: another path': {
    steps: [
      { files: { 'x/a.yaml': map('a'), 'y/b.yaml': map('b') }, spec: { path: './x' } },
      { spec: { path: './y' } },
    ],
  },
  'transformer: build metadata': { steps: [{ files: one, spec: { buildMetadata: ['originAnnotations'] } }] },
  'overlay: namespace and prefix': { steps: [overlay('namespace: NS\nnamePrefix: p-\n')] },
  'overlay: labels': {
    steps: [overlay('labels: [{pairs: {x: z}, includeSelectors: true}]\n', { 'd.yaml': deployment('web') })],
  },
  'overlay: common annotations': { steps: [overlay('commonAnnotations: {x: z}\n')] },
  'overlay: ConfigMap generator': {
    steps: [overlay('configMapGenerator: [{name: gen, namespace: NS, literals: [a=b]}]\n')],
  },
  'overlay: ConfigMap generator, another value': {
    steps: [
      overlay('configMapGenerator: [{name: gen, namespace: NS, literals: [a=b]}]\n'),
      overlay('configMapGenerator: [{name: gen, namespace: NS, literals: [a=c]}]\n'),
    ],
  },
  'overlay: generator from a file': {
    steps: [
      {
        files: {
          'kustomization.yaml': 'configMapGenerator: [{name: gen, namespace: NS, files: [t.txt]}]\n',
          't.txt': 'text\n',
        },
      },
    ],
  },
  'overlay: Secret generator': {
    steps: [
      overlay(
        'secretGenerator: [{name: gen, namespace: NS, literals: [a=b]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n',
      ),
    ],
  },
  'overlay: patches': {
    steps: [overlay('patches: [{patch: "- {op: replace, path: /data/key, value: new}", target: {kind: ConfigMap}}]\n')],
  },
  'overlay: a patch in a file': {
    steps: [
      {
        files: {
          ...one,
          'patch.yaml': map('a', 'more: x'),
          'kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: patch.yaml}]\n',
        },
      },
    ],
  },
  'overlay: images': { steps: [overlay('images: [{name: web, newTag: "3"}]\n', { 'd.yaml': deployment('web') })] },
  'overlay: replicas': { steps: [overlay('replicas: [{name: web, count: 4}]\n', { 'd.yaml': deployment('web') })] },
  'overlay: replacements': {
    steps: [
      overlay(
        'replacements: [{source: {kind: ConfigMap, name: a, fieldPath: data.key}, targets: [{select: {kind: ConfigMap, name: b}, fieldPaths: [data.key]}]}]\n',
        { 'a.yaml': map('a', 'key: from'), 'b.yaml': map('b') },
      ),
    ],
  },
  'overlay: a base': {
    steps: [
      {
        files: {
          'base/kustomization.yaml': 'resources: [a.yaml]\n',
          'base/a.yaml': map('a'),
          'app/kustomization.yaml': 'resources: [../base]\nnameSuffix: -x\n',
        },
        spec: { path: './app' },
      },
    ],
  },
  'varsub: values of the spec': {
    steps: [
      {
        files: { 'a.yaml': map('a', `key: "\${word}", other: "\${none:=default}"`) },
        spec: { postBuild: { substitute: { word: 'hello' } } },
      },
    ],
  },
  'varsub: switched off on an object': {
    steps: [
      {
        files: { 'a.yaml': annotated('a', 'substitute: disabled', `key: "\${word}"`) },
        spec: { postBuild: { substitute: { word: 'hello' } } },
      },
    ],
  },
  'varsub: a new value': {
    steps: [
      { files: value('a', `\${word}`), spec: { postBuild: { substitute: { word: 'one' } } } },
      { spec: { postBuild: { substitute: { word: 'two' } } } },
    ],
  },
  'varsub: numbers and booleans': {
    steps: [
      {
        files: { 'd.yaml': deployment('web').replace('replicas: 1', `replicas: \${n}`) },
        spec: { postBuild: { substitute: { n: '3' } } },
      },
    ],
  },
  'varsub: in a name': {
    steps: [{ files: { 'a.yaml': map(`"a-\${word}"`) }, spec: { postBuild: { substitute: { word: 'x' } } } }],
  },
  'varsub: a default that is empty': {
    steps: [{ files: value('a', `\${none:=}`), spec: { postBuild: { substitute: { word: 'x' } } } }],
  },
  'varsub: none are given': { steps: [{ files: value('a', `\${word:=default}`) }] },
  'varsub: none are given, and always': {
    steps: [{ files: value('a', `\${word:=default}`), spec: { postBuild: { substituteStrategy: 'Always' } } }],
  },
  'varsub: with variables only': {
    steps: [{ files: value('a', `\${word:=default}`), spec: { postBuild: { substituteStrategy: 'WithVariables' } } }],
  },
  'varsub: parts of a value': {
    steps: [{ files: value('a', `\${word:0:2}-\${word/l/L}`), spec: { postBuild: { substitute: { word: 'hello' } } } }],
  },
  'varsub: an escaped one': {
    steps: [{ files: value('a', `$\${word}`), spec: { postBuild: { substitute: { word: 'x' } } } }],
  },
  'varsub: one that is not given': {
    differs: ['what does not build'],
    steps: [{ files: value('a', `x\${none}y`), spec: { postBuild: { substitute: { word: 'x' } } } }],
  },
}
