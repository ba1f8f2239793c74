import { act, annotated, deployment, map, one, role, type SameCase, secret, two } from '../step.ts'

const sa = `apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot, namespace: NS}\n`
const service = `apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: NS}\nspec: {ports: [{port: 80}], selector: {app: web}}\n`
const binding = `apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: bind, namespace: NS}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}\nsubjects: [{kind: ServiceAccount, name: robot, namespace: NS}]\n`

/** What is applied, in which stages, and what is not sent (staged apply, inventory, RBAC). */
export const APPLY: Readonly<Record<string, SameCase>> = {
  'apply: one object': { steps: [{ files: one }] },
  'apply: kinds in stages': { steps: [{ files: { 'a.yaml': map('a'), 'sa.yaml': sa, 'r.yaml': role('ns:reader') } }] },
  'apply: a new value': { steps: [{ files: one }, { files: { 'a.yaml': map('a', 'key: other') } }] },
  'apply: a key less': {
    steps: [{ files: { 'a.yaml': map('a', 'k1: v, k2: v') } }, { files: { 'a.yaml': map('a', 'k1: v') } }],
  },
  'apply: a label less': {
    steps: [
      { files: { 'a.yaml': map('a', 'k: v', ', labels: {x: y, z: w}') } },
      { files: { 'a.yaml': map('a', 'k: v', ', labels: {x: y}') } },
    ],
  },
  'apply: a push that changes nothing': { steps: [{ files: one }, { files: { ...one, 'README.md': 'text' } }] },
  'apply: three pushes that change nothing': {
    steps: [{ files: two }, {}, {}, {}].map((step, n) => ({ ...step, files: { ...two, n: `${n}` } })),
  },
  'apply: stringData of a Secret': { steps: [{ files: { 's.yaml': secret('s', 'user: admin') } }] },
  'apply: stringData of a Secret, changed': {
    steps: [{ files: { 's.yaml': secret('s', 'user: admin') } }, { files: { 's.yaml': secret('s', 'user: root') } }],
  },
  'apply: a Secret that stays': {
    steps: [
      { files: { 's.yaml': secret('s', 'user: admin') } },
      { files: { 's.yaml': secret('s', 'user: admin'), x: '' } },
    ],
  },
  'apply: a Deployment': { steps: [{ files: { 'd.yaml': deployment('web') } }] },
  'apply: a Deployment, another image': {
    steps: [{ files: { 'd.yaml': deployment('web') } }, { files: { 'd.yaml': deployment('web', 'web:2') } }],
  },
  'apply: a Deployment that somebody scaled': {
    steps: [
      { files: { 'd.yaml': deployment('web').replace('  replicas: 1\n', '') } },
      {
        files: { 'd.yaml': deployment('web').replace('  replicas: 1\n', ''), x: '' },
        before: [act.patch('Deployment', 'web', { spec: { replicas: 3 } })],
      },
    ],
  },
  'apply: a Service': { steps: [{ files: { 's.yaml': service } }] },
  'apply: a Service, and again': { steps: [{ files: { 's.yaml': service } }, { files: { 's.yaml': service, x: '' } }] },
  'apply: Role and RoleBinding': { steps: [{ files: { 'sa.yaml': sa, 'r.yaml': role('reader'), 'b.yaml': binding } }] },
  'apply: a List': {
    steps: [
      {
        files: {
          'l.yaml': `apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NS}}\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: NS}}\n`,
        },
      },
    ],
  },
  'apply: many objects of one file': {
    steps: [{ files: { 'all.yaml': ['a', 'b', 'c', 'd', 'e'].map(name => map(name)).join('---\n') } }],
  },
  'apply: numbers and booleans as text': { steps: [{ files: { 'a.yaml': map('a', `n: "1", b: "true", e: ""`) } }] },
  'apply: the spec alone changes': { steps: [{ files: two }, { spec: { timeout: '2m' } }] },
  'apply: requested by hand': {
    differs: ['a reconciliation that changes nothing'],
    steps: [
      { files: one },
      {
        before: [
          act.patch('Kustomization', 'app', {
            metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': 'now' } },
          }),
        ],
        files: { ...one, x: '' },
      },
    ],
  },
  'apply: a Namespace and what is in it': {
    isPlatform: true,
    steps: [
      {
        files: {
          'n.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: NS-more}\n',
          'a.yaml': map('a').replace('NS', 'NS-more'),
        },
      },
    ],
  },
  'apply: a ClusterRole': {
    isPlatform: true,
    steps: [
      {
        files: {
          'c.yaml': `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NS-role}\nrules: []\n`,
          ...one,
        },
      },
    ],
  },
  'switch: reconcile disabled': { steps: [{ files: { ...one, 'b.yaml': annotated('b', 'reconcile: disabled') } }] },
  'switch: reconcile disabled later': {
    steps: [{ files: two }, { files: { ...one, 'b.yaml': annotated('b', 'reconcile: disabled', 'key: new') } }],
  },
  'switch: reconcile disabled on the cluster': {
    steps: [
      { files: two },
      {
        files: { 'a.yaml': map('a', 'key: new'), 'b.yaml': map('b', 'key: new') },
        before: [
          act.patch('ConfigMap', 'b', {
            metadata: { annotations: { 'kustomize.toolkit.fluxcd.io/reconcile': 'disabled' } },
          }),
        ],
      },
    ],
  },
  'switch: ssa Ignore': { steps: [{ files: { ...one, 'b.yaml': annotated('b', 'ssa: Ignore') } }] },
  'switch: ssa Ignore later': {
    steps: [{ files: two }, { files: { ...one, 'b.yaml': annotated('b', 'ssa: Ignore', 'key: new') } }],
  },
  'switch: ssa IfNotPresent': {
    steps: [
      { files: { 'a.yaml': annotated('a', 'ssa: IfNotPresent', 'key: one') } },
      { files: { 'a.yaml': annotated('a', 'ssa: IfNotPresent', 'key: two') } },
    ],
  },
  'switch: ssa IfNotPresent, somebody deletes it': {
    steps: [
      { files: { 'a.yaml': annotated('a', 'ssa: IfNotPresent', 'key: one') } },
      { files: { 'a.yaml': annotated('a', 'ssa: IfNotPresent', 'key: two') }, before: [act.remove('ConfigMap', 'a')] },
    ],
  },
  'switch: ssa Merge keeps what kubectl has': {
    steps: [
      { files: { 'a.yaml': annotated('a', 'ssa: Merge', 'key: one') } },
      {
        files: { 'a.yaml': annotated('a', 'ssa: Merge', 'key: two') },
        before: [act.patch('ConfigMap', 'a', { data: { more: 'x' } })],
      },
    ],
  },
  'suspend: nothing happens': { steps: [{ files: one }, { files: two, spec: { suspend: true } }] },
  'suspend: and resumed': {
    steps: [{ files: one }, { files: two, spec: { suspend: true } }, { files: two, spec: {} }],
  },
  'suspend: from the beginning': { steps: [{ files: one, spec: { suspend: true } }, { spec: {} }] },
  'suspend: deleted while suspended': { steps: [{ files: one }, { spec: { suspend: true } }, { isDeleted: true }] },
}
