import { BailiwickError } from '../../errors.ts'
import { isAbsent, textNode, withField } from '../../kube/edit-node.ts'
import type { MapNode, Node } from '../../kube/node.ts'
import type { Entry } from '../kustomization.ts'
import { currentId } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { editField, type FieldSpec, specMatches } from './field-spec.ts'

/** Puts pairs into every map of labels that a spec leads to. Throws `kustomize-invalid` where that is no map. */
export function setLabels(
  resources: ResourceList,
  pairs: readonly (readonly [string, Entry])[],
  specs: readonly FieldSpec[],
): void {
  for (const resource of resources.all) {
    const id = currentId(resource)
    const matching = specs.filter(spec => specMatches(spec, id))
    for (const [key, { text, origin }] of pairs) {
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
