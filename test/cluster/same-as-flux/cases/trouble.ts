import { act, deployment, job, map, one, role, type SameCase, two } from '../step.ts'

const immutable = (data: string) => ({ 'a.yaml': `${map('a', data)}immutable: true\n` })
const foreign = { ...one, 'x.yaml': map('x').replace('NS', 'elsewhere') }
const ignore = (paths: string[], target: Record<string, string> = {}) => ({
  ignore: [{ paths, ...(Object.keys(target).length > 0 ? { target } : {}) }],
})

/** What is refused, what drifts, and what is forced (force, drift, disallowed managers, impersonation, validation). */
export const TROUBLE: Readonly<Record<string, SameCase>> = {
  'force: what cannot be changed in place': {
    differs: ['an object that `force` recreates'],
    steps: [{ files: immutable('key: one'), spec: { force: true } }, { files: immutable('key: two') }],
  },
  'force: not asked for': {
    steps: [{ files: immutable('key: one') }, { files: immutable('key: two') }],
  },
  'force: asked for afterwards': {
    differs: ['an object that `force` recreates'],
    steps: [{ files: immutable('key: one') }, { files: immutable('key: two') }, { spec: { force: true } }],
  },
  'force: by an annotation': {
    differs: ['an object that `force` recreates'],
    steps: [
      { files: immutable('key: one') },
      {
        files: {
          'a.yaml': `${map('a', 'key: two', ', annotations: {kustomize.toolkit.fluxcd.io/force: enabled}')}immutable: true\n`,
        },
      },
    ],
  },
  'force: of a Job': {
    differs: ['an object that `force` recreates'],
    steps: [
      { files: { 'j.yaml': job('run') }, spec: { force: true } },
      { files: { 'j.yaml': job('run').replace('run:1', 'run:2') } },
    ],
  },
  'force: a refused object beside a good one': {
    mayDiffer: ['the rest of a refused stage'],
    steps: [
      { files: { ...immutable('key: one'), 'b.yaml': map('b') } },
      { files: { ...immutable('key: two'), 'b.yaml': map('b', 'key: new') } },
    ],
  },
  'force: what could be changed is not recreated': {
    steps: [{ files: one, spec: { force: true } }, { files: { 'a.yaml': map('a', 'key: new') } }],
  },
  'drift: what kubectl changed': {
    steps: [
      { files: one },
      { files: { ...one, x: '' }, before: [act.apply('ConfigMap', 'a', { data: { key: 'drift', more: 'x' } })] },
    ],
  },
  'drift: what kubectl edit changed': {
    steps: [
      { files: one },
      { files: { ...one, x: '' }, before: [act.patch('ConfigMap', 'a', { data: { key: 'drift' } })] },
    ],
  },
  'drift: what kubectl edit added': {
    steps: [
      { files: one },
      { files: { ...one, x: '' }, before: [act.patch('ConfigMap', 'a', { data: { more: 'x' } })] },
    ],
  },
  'drift: what another manager added': {
    steps: [
      { files: one },
      { files: { ...one, x: '' }, before: [act.patch('ConfigMap', 'a', { data: { more: 'x' } }, 'robot')] },
    ],
  },
  'drift: what another manager applied': {
    steps: [
      { files: one },
      { files: { ...one, x: '' }, before: [act.apply('ConfigMap', 'a', { data: { more: 'x' } }, 'robot')] },
    ],
  },
  'drift: what before-first-apply has': {
    steps: [
      { files: one },
      {
        files: { ...one, x: '' },
        before: [act.patch('ConfigMap', 'a', { data: { more: 'x' } }, 'before-first-apply')],
      },
    ],
  },
  'drift: a deleted object': {
    steps: [{ files: two }, { files: { ...two, x: '' }, before: [act.remove('ConfigMap', 'a')] }],
  },
  'drift: every object deleted': {
    steps: [
      { files: two },
      { files: { ...two, x: '' }, before: [act.remove('ConfigMap', 'a'), act.remove('ConfigMap', 'b')] },
    ],
  },
  'drift: labels of the owner taken': {
    steps: [
      { files: one },
      {
        files: { ...one, x: '' },
        before: [act.patch('ConfigMap', 'a', { metadata: { labels: { 'kustomize.toolkit.fluxcd.io/name': null } } })],
      },
    ],
  },
  'drift: a label more': {
    steps: [
      { files: one },
      {
        files: { ...one, x: '' },
        before: [act.patch('ConfigMap', 'a', { metadata: { labels: { hand: 'made' } } }, 'robot')],
      },
    ],
  },
  'drift: a key removed': {
    steps: [
      { files: one },
      { files: { ...one, x: '' }, before: [act.patch('ConfigMap', 'a', { data: { key: null } })] },
    ],
  },
  'drift: a Role': {
    steps: [
      { files: { 'r.yaml': role('r') } },
      { files: { 'r.yaml': role('r'), x: '' }, before: [act.patch('Role', 'r', { rules: [] })] },
    ],
  },
  'ignore: a path of a kind': {
    steps: [
      { files: { 'a.yaml': map('a', 'key: value, other: o') }, spec: ignore(['/data/key'], { kind: 'ConfigMap' }) },
      {
        files: { 'a.yaml': map('a', 'key: value, other: o'), x: '' },
        before: [act.patch('ConfigMap', 'a', { data: { key: 'drift' } })],
      },
    ],
  },
  'ignore: another path is put back': {
    steps: [
      { files: { 'a.yaml': map('a', 'key: value, other: o') }, spec: ignore(['/data/key'], { kind: 'ConfigMap' }) },
      {
        files: { 'a.yaml': map('a', 'key: value, other: o'), x: '' },
        before: [act.patch('ConfigMap', 'a', { data: { key: 'drift', other: 'drift' } })],
      },
    ],
  },
  'ignore: without a target': {
    steps: [
      { files: one, spec: ignore(['/data/key']) },
      { files: { ...one, x: '' }, before: [act.patch('ConfigMap', 'a', { data: { key: 'drift' } })] },
    ],
  },
  'ignore: replicas': {
    steps: [
      { files: { 'd.yaml': deployment('web') }, spec: ignore(['/spec/replicas'], { kind: 'Deployment' }) },
      {
        files: { 'd.yaml': deployment('web', 'web:2') },
        before: [act.patch('Deployment', 'web', { spec: { replicas: 5 } })],
      },
    ],
  },
  'ignore: what git changes itself': {
    steps: [{ files: one, spec: ignore(['/data/key']) }, { files: { 'a.yaml': map('a', 'key: new') } }],
  },
  'adopt: what kubectl applied': {
    differs: ['an object that is not known'],
    steps: [{ files: one, before: [act.apply('ConfigMap', 'a', { data: { key: 'old', more: 'x' } })] }],
    isPlatform: true,
  },
  'adopt: what kubectl created': {
    differs: ['an object that is not known'],
    steps: [
      {
        files: one,
        before: [
          act.create('ConfigMap', { metadata: { name: 'a', namespace: 'NS' }, data: { key: 'old', more: 'x' } }),
        ],
      },
    ],
    isPlatform: true,
  },
  'rbac: another namespace': {
    steps: [{ files: { 'a.yaml': map('a').replace('NS', 'elsewhere') } }],
  },
  'rbac: another namespace beside its own': { mayDiffer: ['the rest of a refused stage'], steps: [{ files: foreign }] },
  'rbac: another namespace later': {
    mayDiffer: ['the rest of a refused stage'],
    steps: [{ files: one }, { files: foreign }],
  },
  'rbac: and mended': { mayDiffer: ['the rest of a refused stage'], steps: [{ files: foreign }, { files: one }] },
  'rbac: its rights are gone': {
    mayDiffer: ['the rest of a refused stage'],
    differs: ['messages of a refusal'],
    steps: [{ files: one }, { files: two, before: [act.remove('RoleBinding', 'dev-team-reconciler')] }],
  },
  'rbac: more rights than it has': {
    mayDiffer: ['the rest of a refused stage'],
    steps: [
      {
        files: {
          'c.yaml': `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NS-role}\nrules: []\n`,
          ...one,
        },
      },
    ],
  },
  'rbac: a stage that passes before one that does not': {
    differs: ['`inventory` after a failed apply'],
    isPlatform: true,
    steps: [
      {
        files: {
          'n.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: NS-more}\n',
          'b.yaml': map('Not_A_Name'),
        },
      },
      { files: two },
    ],
  },
  'rbac: an account that is not there': {
    steps: [{ files: one, spec: { serviceAccountName: 'ghost' } }],
  },
  'rbac: back to an account that is there': {
    steps: [{ files: one, spec: { serviceAccountName: 'ghost' } }, { spec: {} }],
  },
  'validation: an unknown kind': {
    differs: ['messages of a refusal', 'the rest of a refused stage'],
    steps: [
      {
        files: { ...one, 'x.yaml': `apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: x, namespace: NS}\n` },
      },
    ],
  },
  'validation: an unknown field': {
    steps: [{ files: { 'd.yaml': deployment('web').replace('replicas:', 'replicaz:') } }],
  },
  'validation: a name that is no name': {
    mayDiffer: ['the rest of a refused stage'],
    steps: [{ files: { ...one, 'b.yaml': map('Not_A_Name') } }],
  },
  'validation: a value that is no number': {
    mayDiffer: ['the rest of a refused stage'],
    steps: [{ files: { ...one, 'd.yaml': deployment('web').replace('replicas: 1', 'replicas: many') } }],
  },
  'validation: refused, and mended': {
    mayDiffer: ['the rest of a refused stage'],
    steps: [{ files: { ...one, 'b.yaml': map('Not_A_Name') } }, { files: two }],
  },
  'validation: data that is no text': {
    steps: [{ files: { 'a.yaml': map('a', 'key: 1') } }],
  },
  'build: what does not build': {
    differs: ['what does not build'],
    steps: [{ files: { 'kustomization.yaml': 'resources: [missing.yaml]\n' } }],
  },
  'build: what does not build any more': {
    differs: ['what does not build'],
    steps: [{ files: one }, { files: { 'kustomization.yaml': 'resources: [missing.yaml]\n' } }],
  },
  'build: mended': {
    differs: ['what does not build'],
    steps: [{ files: { 'kustomization.yaml': 'resources: [missing.yaml]\n' } }, { files: one }],
  },
  'build: not YAML': {
    differs: ['what does not build'],
    steps: [{ files: { 'a.yaml': 'apiVersion: v1\nkind: [\n' } }],
  },
  'build: a path that is not there': {
    differs: ['what does not build'],
    steps: [{ files: one, spec: { path: './none' } }],
  },
  'build: one object twice': {
    differs: ['what does not build'],
    steps: [{ files: { 'a.yaml': map('a'), 'b.yaml': map('a', 'key: other') } }],
  },
  'build: no kind': {
    differs: ['what does not build'],
    steps: [{ files: { 'a.yaml': 'apiVersion: v1\nmetadata: {name: a}\n' } }],
  },
  'build: a variable that is not closed': {
    differs: ['what does not build'],
    steps: [{ files: { 'a.yaml': map('a', `key: "\${open"`) }, spec: { postBuild: { substitute: { word: 'x' } } } }],
  },
}
