import type { KustomizationField } from './field.ts'
import { mapField, refuseOtherFields, textField, textPairs } from './read-fields.ts'

/** Metadata of the file itself says nothing about the build, but has to be what kustomize can read. */
export const metadata: KustomizationField<undefined> = {
  goType: '*Metadata',
  effect: 'itself',
  read: root => {
    const map = mapField(root, 'metadata')
    if (!map) return
    refuseOtherFields(map, ['name', 'namespace', 'labels', 'annotations'], 'metadata')
    for (const name of ['name', 'namespace']) textField(map, name)
    for (const name of ['labels', 'annotations']) textPairs(map, name)
  },
  docs: { built: 'read as kustomize reads it; has no effect' },
}
