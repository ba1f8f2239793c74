import type { MapNode } from '../../kube/node.ts'
import type { LabelEntry } from '../model/kustomization.ts'
import { readFieldSpecs } from './read-field-specs.ts'
import { booleanField, listField, refuseOtherFields, structNode, textPairs } from './read-fields.ts'

/** The field `labels`. Throws `kustomize-invalid` for what kustomize would not decode. */
export function readLabels(root: MapNode): LabelEntry[] {
  return listField(root, 'labels').map(node => {
    const entry = structNode(node, 'labels[]')
    refuseOtherFields(entry, ['pairs', 'includeSelectors', 'includeTemplates', 'fields'], 'labels')
    return {
      origin: entry.origin,
      pairs: textPairs(entry, 'pairs'),
      includeSelectors: booleanField(entry, 'includeSelectors'),
      includeTemplates: booleanField(entry, 'includeTemplates'),
      fields: readFieldSpecs(entry, 'fields', true),
    }
  })
}
