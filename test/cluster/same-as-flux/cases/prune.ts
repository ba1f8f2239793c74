import { act, annotated, map, one, role, type SameCase, secret, two } from '../step.ts'

const three = { ...two, 'c.yaml': map('c') }
const ignored = (name: string) => annotated(name, 'ssa: Ignore')
const absent = (name: string) => annotated(name, 'ssa: IfNotPresent')
const labels = { 'kustomize.toolkit.fluxcd.io/name': 'another', 'kustomize.toolkit.fluxcd.io/namespace': 'NS' }

/** What is deleted, and when it is left (prune, prune survivors, deletion policy, inventory). */
export const PRUNE: Readonly<Record<string, SameCase>> = {
  'prune: an object that is gone': { steps: [{ files: two }, { files: one }] },
  'prune: all objects but one, then back': { steps: [{ files: two }, { files: one }, { files: two }] },
  'prune: not asked for': { steps: [{ files: two, spec: { prune: false } }, { files: one }] },
  'prune: switched off before': { steps: [{ files: two }, { files: one, spec: { prune: false } }] },
  'prune: switched on after': {
    steps: [
      { files: two, spec: { prune: false } },
      { files: one, spec: { prune: true } },
    ],
  },
  'prune: switched on, then gone': {
    steps: [{ files: two, spec: { prune: false } }, { spec: { prune: true } }, { files: one }],
  },
  'prune: disabled on the object': {
    differs: ['an object that pruning leaves alone'],
    steps: [{ files: { ...one, 'b.yaml': annotated('b', 'prune: disabled') } }, { files: one }],
  },
  'prune: disabled on the cluster': {
    differs: ['an object that pruning leaves alone'],
    steps: [
      { files: two },
      {
        files: one,
        before: [
          act.patch('ConfigMap', 'b', {
            metadata: { annotations: { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' } },
          }),
        ],
      },
    ],
  },
  'prune: a renamed object': { steps: [{ files: one }, { files: { 'a.yaml': map('c') } }] },
  'prune: every object renamed by a prefix': { steps: [{ files: two }, { spec: { namePrefix: 'x-' } }] },
  'prune: another kind of the same name': { steps: [{ files: one }, { files: { 'a.yaml': secret('a') } }] },
  'prune: nothing is left': { steps: [{ files: two }, { files: { 'kustomization.yaml': 'resources: []\n' } }] },
  'prune: nothing is left, and back': {
    steps: [{ files: two }, { files: { 'kustomization.yaml': 'resources: []\n' } }, { files: two }],
  },
  'prune: nothing from the beginning': { steps: [{ files: { 'kustomization.yaml': 'resources: []\n' } }] },
  'prune: somebody deleted it already': {
    steps: [{ files: two }, { files: one, before: [act.remove('ConfigMap', 'b')] }],
  },
  'prune: it belongs to another one': {
    differs: ['an object that pruning leaves alone'],
    steps: [{ files: two }, { files: one, before: [act.patch('ConfigMap', 'b', { metadata: { labels } })] }],
  },
  'prune: somebody took its labels': {
    differs: ['an object that pruning leaves alone'],
    steps: [
      { files: two },
      {
        files: one,
        before: [act.patch('ConfigMap', 'b', { metadata: { labels: { 'kustomize.toolkit.fluxcd.io/name': null } } })],
      },
    ],
  },
  'prune: it has a finalizer': {
    steps: [
      { files: two },
      { files: one, before: [act.patch('ConfigMap', 'b', { metadata: { finalizers: ['example.com/wait'] } })] },
      { files: { ...one, x: '' } },
    ],
  },
  'prune: ssa Ignore': { steps: [{ files: { ...one, 'b.yaml': ignored('b') } }, { files: one }] },
  'prune: ssa Ignore after it was applied': {
    steps: [{ files: two }, { files: { ...one, 'b.yaml': ignored('b') } }, { files: one }],
  },
  'prune: ssa IfNotPresent': { steps: [{ files: { ...one, 'b.yaml': absent('b') } }, { files: one }] },
  'prune: ssa IfNotPresent of somebody else': {
    differs: ['an object that is not known', 'an object that pruning leaves alone'],
    steps: [
      { before: [act.apply('ConfigMap', 'b', { data: { k: 'v' } })], files: { ...one, 'b.yaml': absent('b') } },
      { files: one },
    ],
  },
  'prune: kinds one after the other': {
    steps: [{ files: { ...one, 's.yaml': secret('s'), 'r.yaml': role('r') } }, { files: one }],
  },
  'prune: two of three': { steps: [{ files: three }, { files: { 'c.yaml': map('c') } }] },
  'prune: may not be deleted, then may': {
    steps: [
      {
        files: two,
        before: [
          act.create('Role', {
            metadata: { name: 'narrow', namespace: 'NS' },
            rules: [
              { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'patch', 'update'] },
            ],
          }),
        ],
      },
      {
        files: one,
        before: [
          act.create('RoleBinding', {
            metadata: { name: 'narrow', namespace: 'NS' },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'narrow' },
            subjects: [{ kind: 'ServiceAccount', name: 'dev-team', namespace: 'NS' }],
          }),
          act.remove('RoleBinding', 'dev-team-reconciler'),
        ],
      },
      {
        files: { ...one, x: '' },
        before: [
          act.create('RoleBinding', {
            metadata: { name: 'wide', namespace: 'NS' },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
            subjects: [{ kind: 'ServiceAccount', name: 'dev-team', namespace: 'NS' }],
          }),
        ],
      },
    ],
  },
  'prune: moved to another Kustomization': {
    mayDiffer: [
      'an object that moves to another Kustomization',
      'an object that is not known',
      'an object that pruning leaves alone',
    ],
    steps: [
      { files: two, more: { other: { files: { 'c.yaml': map('c') } } } },
      { files: one, more: { other: { files: { 'b.yaml': map('b') } } } },
      { files: { ...one, x: '' } },
    ],
  },
  'prune: moved to a Kustomization that is applied first': {
    differs: ['an object that is not known', 'an object that pruning leaves alone'],
    steps: [
      { files: two, more: { other: { files: { 'c.yaml': map('c') } } } },
      { files: one, more: { other: { files: { 'b.yaml': map('b') } } }, first: ['other'] },
      { files: { ...one, x: '' } },
      { more: { other: { files: { 'c.yaml': map('c') } } } },
    ],
  },
  'prune: changed and moved, with what somebody put on it': {
    differs: ['an object that is not known', 'an object that pruning leaves alone'],
    steps: [
      { files: two, more: { other: { files: { 'c.yaml': map('c') } } } },
      {
        files: one,
        more: { other: { files: { 'b.yaml': map('b', 'key: two') } } },
        first: ['other'],
        before: [
          act.patch('ConfigMap', 'b', { metadata: { labels: { hand: 'made' } } }, 'robot'),
          act.patch('ConfigMap', 'b', { data: { more: 'x' } }),
        ],
      },
    ],
  },
  'prune: moved away where pruning is off': {
    differs: ['an object that is not known'],
    steps: [
      { files: two, more: { other: { files: { 'c.yaml': map('c') } } } },
      { files: one, spec: { prune: false }, more: { other: { files: { 'b.yaml': map('b') } } }, first: ['other'] },
    ],
  },
  'prune: moved away from a Kustomization that is deleted': {
    differs: ['a deleted Kustomization', 'an object that is not known', 'an object that pruning leaves alone'],
    steps: [
      { files: two, more: { other: { files: { 'c.yaml': map('c') } } } },
      { isDeleted: true, more: { other: { files: two } }, first: ['other'] },
    ],
  },
  'prune: moved to a Kustomization that is suspended': {
    differs: ['an object that moves to another Kustomization'],
    steps: [
      { files: two, more: { other: { files: { 'c.yaml': map('c') } } } },
      { files: one, more: { other: { files: { 'b.yaml': map('b') }, spec: { suspend: true } } } },
      { more: { other: { spec: {} } } },
    ],
  },
  'prune: moved to a Kustomization that is refused': {
    differs: ['an object that moves to another Kustomization'],
    mayDiffer: ['messages of a refusal', 'the rest of a refused stage', 'an object that is not known'],
    steps: [
      { files: two, more: { other: { files: { 'c.yaml': map('c') } } } },
      { files: one, more: { other: { files: { 'b.yaml': map('b'), 'z.yaml': map('Z') } } } },
      { more: { other: { files: { 'b.yaml': map('b') } } } },
    ],
  },
  'deletion: it takes its objects along': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: two }, { isDeleted: true }],
  },
  'deletion: without prune it does not': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: one, spec: { prune: false } }, { isDeleted: true }],
  },
  'deletion: policy Orphan': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: one, spec: { deletionPolicy: 'Orphan' } }, { isDeleted: true }],
  },
  'deletion: policy Delete': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: one, spec: { prune: false, deletionPolicy: 'Delete' } }, { isDeleted: true }],
  },
  'deletion: policy WaitForTermination': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: two, spec: { prune: false, deletionPolicy: 'WaitForTermination' } }, { isDeleted: true }],
  },
  'deletion: policy MirrorPrune': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: two, spec: { deletionPolicy: 'MirrorPrune' } }, { isDeleted: true }],
  },
  'deletion: policy MirrorPrune without prune': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: two, spec: { prune: false, deletionPolicy: 'MirrorPrune' } }, { isDeleted: true }],
  },
  'deletion: the policy changed before': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: two }, { spec: { deletionPolicy: 'Orphan' } }, { isDeleted: true }],
  },
  'deletion: before it was ever applied': { steps: [{ files: one, spec: { suspend: true } }, { isDeleted: true }] },
  'deletion: and made again': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: two }, { isDeleted: true }, { files: one, spec: {} }],
  },
  'deletion: prune disabled on an object': {
    differs: ['an object that pruning leaves alone', 'a deleted Kustomization'],
    steps: [{ files: { ...one, 'b.yaml': annotated('b', 'prune: disabled') } }, { isDeleted: true }],
  },
  'deletion: ssa Ignore on an object': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: { ...one, 'b.yaml': ignored('b') } }, { isDeleted: true }],
  },
  'deletion: ssa IfNotPresent on an object': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: { ...one, 'b.yaml': absent('b') } }, { isDeleted: true }],
  },
  'deletion: one of two': {
    differs: ['a deleted Kustomization'],
    steps: [
      { files: one, more: { other: { files: { 'b.yaml': map('b') } } } },
      { more: { other: { isDeleted: true } } },
    ],
  },
  'deletion: after a failed apply': {
    mayDiffer: ['the rest of a refused stage'],
    steps: [{ files: one }, { files: { ...one, 'x.yaml': map('x').replace('NS', 'elsewhere') } }, { isDeleted: true }],
  },
  'deletion: its account is gone': {
    differs: ['a deleted Kustomization'],
    steps: [
      { files: one },
      {
        before: [act.remove('ServiceAccount', 'dev-team'), act.remove('RoleBinding', 'dev-team-reconciler')],
        isDeleted: true,
      },
    ],
  },
  'deletion: its account is gone, and its rights are not': {
    differs: ['its account is gone', 'a deleted Kustomization'],
    steps: [{ files: one }, { before: [act.remove('ServiceAccount', 'dev-team')], isDeleted: true }],
  },
}
