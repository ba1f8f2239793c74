import { BailiwickError } from '../../errors.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import type { Field, MapNode, Node } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { Entry } from '../model/entry.ts'

import type { FieldSpec } from '../model/field-spec.ts'
import { isBuildAnnotation } from '../resource/build-annotation.ts'
import { specsByKind } from '../resource/field-spec.ts'
import { currentId } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { editPlaces } from './edit-resource.ts'

/** Labels or annotations. */
export type Pairs = readonly (readonly [string, Entry])[]

/**
 * Puts labels or annotations into every map that a spec leads to (api/filters/labels and annotations, 5.8.1). Throws
 * `kustomize-invalid` where that is not a map.
 */
export function setPairs(
  resources: ResourceList,
  pairs: Pairs,
  specs: readonly FieldSpec[],
  budget: BuildBudget,
): void {
  const first = pairs[0]?.[1].origin
  if (!first) return
  for (const [key, { origin }] of pairs) if (isBuildAnnotation(key)) refuseBuildNote(key, origin)
  budget.spendOnEach(resources.all, first)
  const specsOf = specsByKind(specs)
  for (const resource of resources.all) {
    const writer = new PairWriter(pairs, first)
    const matching = specsOf(currentId(resource))
    budget.spend('steps', pairs.length * matching.length, first)
    const write = (node: Node | undefined, spec: FieldSpec) => {
      // the map is copied, which is what takes the time where there are many pairs in it
      if (node?.type === 'map') budget.spend('steps', node.fields.size, first)
      return writer.write(node, spec.path)
    }
    editPlaces(resource, matching, first, write, budget)
    resource.hasShared ||= writer.hasShared
  }
}

/** Writes the pairs to the places of one object. A value that is new at several of them is one value for kustomize. */
class PairWriter {
  private readonly pairs: Pairs
  private readonly origin: Origin
  private readonly added = new Map<string, object>()
  hasShared = false

  constructor(pairs: Pairs, origin: Origin) {
    this.pairs = pairs
    this.origin = origin
  }

  write(node: Node | undefined, path: string): Node {
    // a null that is not to be created stays
    if (node !== undefined && isAbsent(node)) return node
    const map: MapNode =
      node === undefined ? { type: 'map', fields: new Map(), origin: this.origin } : asMap(node, path)
    const fields = new Map<string, Field>(map.fields)
    for (const [key, { text, origin }] of this.pairs) {
      const value = { type: 'scalar', value: text, origin } as const
      fields.set(key, { key: origin, value: fields.has(key) ? value : { ...value, shared: this.share(key) } })
    }
    return { ...map, fields }
  }

  private share(key: string): object {
    const known = this.added.get(key)
    if (known) {
      this.hasShared = true
      return known
    }
    const shared = {}
    this.added.set(key, shared)
    return shared
  }
}

function asMap(node: Node, path: string): MapNode {
  if (node.type === 'map') return node
  throw new BailiwickError('kustomize-invalid', `${path}: not a map`, { origin: node.origin })
}

function refuseBuildNote(key: string, origin: Origin): never {
  throw new BailiwickError('kustomize-unsupported', `${key}: this key controls kustomize itself and is not supported`, {
    origin,
  })
}
