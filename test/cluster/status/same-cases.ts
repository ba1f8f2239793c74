import type { Json } from '../../../src/kube/node.ts'

/** One step of a case: what git holds from then on, and what somebody does on the cluster before. `NS` is the namespace. */
export interface SameStep {
  readonly files: Readonly<Record<string, string>>
  readonly spec?: { readonly [field: string]: Json }
  /** The Kustomization is deleted, as its parent does. */
  readonly isDeleted?: true
  /** Objects that an admin applies with kubectl's name first, by collection. */
  readonly before?: Readonly<Record<string, Json>>
}

export interface SameCase {
  readonly steps: readonly SameStep[]
  /** What is not the same, and why: listed in docs/worker.md. */
  readonly differs?: { readonly status?: string; readonly events?: string; readonly managers?: string }
}

const metadata = (name: string, more = '') => `metadata: {name: ${name}, namespace: NS${more}}`
const map = (name: string, data = 'key: value', more = '') =>
  `apiVersion: v1\nkind: ConfigMap\n${metadata(name, more)}\ndata: {${data}}\n`
const annotated = (name: string, annotation: string, data = 'key: value') =>
  map(name, data, `, annotations: {kustomize.toolkit.fluxcd.io/${annotation}}`)
const one = { 'a.yaml': map('a') }
const two = { 'a.yaml': map('a'), 'b.yaml': map('b') }
const MESSAGE = 'the texts of a refusal name the object and quote the API server, in our words'
const HELD = 'what does not build is not approved: the check on the commit says why'

/** What kustomize-controller's own test functions are about, written anew as fleets. */
export const SAME_CASES: Readonly<Record<string, SameCase>> = {
  'apply: one object': { steps: [{ files: one }] },
  'apply: kinds in stages': {
    steps: [
      {
        files: {
          'a.yaml': map('a'),
          'sa.yaml': `apiVersion: v1\nkind: ServiceAccount\n${metadata('robot')}\n`,
          'role.yaml': `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n${metadata('ns:reader')}\nrules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]\n`,
        },
      },
    ],
  },
  'apply: a new value': { steps: [{ files: one }, { files: { 'a.yaml': map('a', 'key: other') } }] },
  'apply: a key less': {
    steps: [{ files: { 'a.yaml': map('a', 'k1: v, k2: v') } }, { files: { 'a.yaml': map('a', 'k1: v') } }],
  },
  'apply: a push that changes nothing': { steps: [{ files: one }, { files: { ...one, 'README.md': 'text' } }] },
  'apply: stringData of a Secret': {
    steps: [{ files: { 's.yaml': `apiVersion: v1\nkind: Secret\n${metadata('s')}\nstringData: {user: admin}\n` } }],
  },
  'prune: an object that is gone': { steps: [{ files: two }, { files: one }] },
  'prune: all objects but one, then back': { steps: [{ files: two }, { files: one }, { files: two }] },
  'prune: not asked for': {
    steps: [
      { files: two, spec: { prune: false } },
      { files: one, spec: { prune: false } },
    ],
  },
  'prune: disabled on the object': {
    differs: { events: 'Flux tells of an object that it leaves alone, `skipped`' },
    steps: [{ files: { ...one, 'b.yaml': annotated('b', 'prune: disabled') } }, { files: one }],
  },
  'prune: a renamed object': { steps: [{ files: one }, { files: { 'a.yaml': map('c') } }] },
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
  'patch: delete an object': {
    differs: { events: 'Flux applies the new spec to the old revision first, as it sees them one after the other' },
    steps: [
      { files: two },
      {
        files: two,
        spec: {
          patches: [{ patch: '$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: NS}\n' }],
        },
      },
    ],
  },
  'transformer: common metadata': {
    steps: [{ files: one, spec: { commonMetadata: { labels: { team: 'x' }, annotations: { note: 'y' } } } }],
  },
  'transformer: name prefix and suffix': { steps: [{ files: one, spec: { namePrefix: 'p-', nameSuffix: '-s' } }] },
  'transformer: target namespace': {
    steps: [
      {
        files: { 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n' },
        spec: { targetNamespace: 'NS' },
      },
    ],
  },
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
  'dependsOn: one that is not there': {
    steps: [{ files: one, spec: { dependsOn: [{ name: 'absent' }] } }],
    differs: { status: 'Flux quotes what the API server answers about a missing one', events: 'the same' },
  },
  'suspend: nothing happens': { steps: [{ files: one }, { files: two, spec: { suspend: true } }] },
  'force: what cannot be changed in place': {
    steps: [
      { files: { 'a.yaml': `${map('a', 'key: one')}immutable: true\n` }, spec: { force: true } },
      { files: { 'a.yaml': `${map('a', 'key: two')}immutable: true\n` }, spec: { force: true } },
    ],
    differs: { events: 'we say `recreated` of what Flux says `created`' },
  },
  'force: not asked for': {
    steps: [
      { files: { 'a.yaml': `${map('a', 'key: one')}immutable: true\n` } },
      { files: { 'a.yaml': `${map('a', 'key: two')}immutable: true\n` } },
    ],
    differs: { status: MESSAGE, events: MESSAGE },
  },
  'switch: reconcile disabled': { steps: [{ files: { ...one, 'b.yaml': annotated('b', 'reconcile: disabled') } }] },
  'switch: ssa Ignore': { steps: [{ files: { ...one, 'b.yaml': annotated('b', 'ssa: Ignore') } }] },
  'switch: ssa IfNotPresent': {
    steps: [
      { files: { 'a.yaml': annotated('a', 'ssa: IfNotPresent', 'key: one') } },
      { files: { 'a.yaml': annotated('a', 'ssa: IfNotPresent', 'key: two') } },
    ],
  },
  'rbac: another namespace': {
    steps: [{ files: { 'a.yaml': map('a').replace('NS', 'elsewhere') } }],
    differs: { status: MESSAGE, events: MESSAGE },
  },
  'validation: an unknown kind': {
    steps: [{ files: { ...one, 'x.yaml': `apiVersion: example.com/v1\nkind: Nothing\n${metadata('x')}\n` } }],
    differs: { status: MESSAGE, events: MESSAGE },
  },
  'deletion: it takes its objects along': { steps: [{ files: two }, { files: two, isDeleted: true }] },
  'deletion: without prune it does not': {
    steps: [
      { files: one, spec: { prune: false } },
      { files: one, spec: { prune: false }, isDeleted: true },
    ],
  },
  'deletion: policy Orphan': {
    steps: [
      { files: one, spec: { deletionPolicy: 'Orphan' } },
      { files: one, spec: { deletionPolicy: 'Orphan' }, isDeleted: true },
    ],
  },
  'deletion: policy Delete': {
    steps: [
      { files: one, spec: { prune: false, deletionPolicy: 'Delete' } },
      { files: one, spec: { prune: false, deletionPolicy: 'Delete' }, isDeleted: true },
    ],
  },
  'wait: what is ready at once': { steps: [{ files: one, spec: { wait: true } }] },
  'wait: health checks by name': {
    steps: [
      { files: one, spec: { healthChecks: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'NS' }] } },
    ],
  },
  'drift: what kubectl changed': {
    steps: [
      { files: one },
      {
        files: { ...one, 'README.md': 'text' },
        before: {
          configmaps: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'a', namespace: 'NS' },
            data: { key: 'drift', more: 'x' },
          },
        },
      },
    ],
  },
  'build: what does not build': {
    steps: [{ files: { 'kustomization.yaml': 'resources: [missing.yaml]\n' } }],
    differs: { status: HELD, events: HELD },
  },
}
