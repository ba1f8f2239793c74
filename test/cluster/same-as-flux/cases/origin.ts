import { map, one, type SameCase, two } from '../step.ts'

const OLD = 'main@sha1:aaaa'
const NEW = 'main@sha1:bbbb'

/** Artifacts that say what they were built from (kustomization_origin_revision_test.go). */
export const ORIGIN: Readonly<Record<string, SameCase>> = {
  'origin: in status, history and events': { steps: [{ files: one, origin: OLD }] },
  'origin: another content of another origin': {
    steps: [
      { files: one, origin: OLD },
      { files: two, origin: NEW },
    ],
  },
  'origin: no longer said': {
    steps: [
      { files: one, origin: OLD },
      { files: two, origin: '' },
    ],
  },
  'origin: said later': { steps: [{ files: one }, { files: two, origin: NEW }] },
  'origin: a refused apply keeps the last one': {
    mayDiffer: ['the rest of a refused stage'],
    steps: [
      { files: one, origin: OLD },
      {
        files: {
          'a.yaml': map('a', 'key: new'),
          'x.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n',
        },
        origin: NEW,
      },
    ],
  },
  'origin: what is pruned': {
    steps: [
      { files: two, origin: OLD },
      { files: one, origin: NEW },
    ],
  },
  'origin: with health checks': { steps: [{ files: one, origin: OLD, spec: { wait: true } }] },
  'origin: deleted': {
    steps: [{ files: one, origin: OLD }, { isDeleted: true }],
    differs: ['a deleted Kustomization'],
  },
}
