import { itemsOf } from '../../kube/node.ts'
import type { Entry } from '../model/entry.ts'
import type { KustomizationField } from './field.ts'
import { textList } from './read-fields.ts'

/** Files and directories that objects come from. */
export const resources: KustomizationField<readonly Entry[]> = {
  olderNames: ['bases'],
  goType: '[string',
  effect: 'brings',
  leftOut: { objects: 'only' },
  paths: itemsOf,
  mayBePinned: true,
  read: root => [...textList(root, 'resources'), ...textList(root, 'bases')],
  docs: {
    built:
      'files and directories of the same repository; for the platform also a readable GitHub repository at a commit ' +
      '(`?ref=` with 40 hex digits, `raw` addresses with them)',
    refused:
      'other addresses (`kustomize-remote-base`), paths outside of the repository (`kustomize-path-escape`), symlinks ' +
      '(`kustomize-symlink`), submodules; objects with annotations that control kustomize',
  },
}
