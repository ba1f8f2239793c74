import { BailiwickError } from '../errors.ts'
import { isAbsent, textNode, withField } from '../kube/edit-node.ts'
import type { MapNode, Node } from '../kube/node.ts'
import { editField, type FieldSpec, specMatches } from './field-spec.ts'
import type { LabelEntry } from './kustomization.ts'
import { SELECTOR_LABELS, TEMPLATE_LABELS } from './label-fields.ts'
import { currentId } from './resource.ts'
import type { ResourceList } from './resource-list.ts'

const METADATA: readonly FieldSpec[] = [{ path: 'metadata/labels', create: true }]

/** One entry of `labels`: its pairs go to the metadata, and to templates and selectors where it says so. */
export function setLabels(resources: ResourceList, entry: LabelEntry): void {
  const specs = entry.includeSelectors
    ? [...SELECTOR_LABELS, ...TEMPLATE_LABELS, ...METADATA]
    : entry.includeTemplates
      ? [...TEMPLATE_LABELS, ...METADATA]
      : METADATA
  for (const resource of resources.all) {
    const id = currentId(resource)
    const matching = specs.filter(spec => specMatches(spec, id))
    for (const [key, { text, origin }] of entry.pairs) {
      for (const spec of matching) {
        resource.root = editField(resource.root, spec, origin, node => {
          const map: MapNode = isAbsent(node) ? { type: 'map', fields: new Map(), origin } : asLabels(node, spec.path)
          return withField(map, key, textNode(text, origin), origin)
        })
      }
    }
  }
}

function asLabels(node: Node, path: string): MapNode {
  if (node.type === 'map') return node
  throw new BailiwickError('kustomize-invalid', `${path} is no map`, { origin: node.origin })
}
