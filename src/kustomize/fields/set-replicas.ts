import { BailiwickError } from '../../errors.ts'
import type { Node, ScalarNode } from '../../kube/node.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { FieldSpec, ReplicaEntry } from '../model/kustomization.ts'
import { specMatches } from '../resource/field-spec.ts'
import { allIds, currentId } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { editResource } from './edit-resource.ts'

/**
 * Sets the number of replicas of everything that has or had the name (ReplicaCountTransformer, 5.8.1). Throws
 * `kustomize-invalid` where nothing of that name is of a kind that the specs are for.
 */
export function setReplicas(
  resources: ResourceList,
  entry: ReplicaEntry,
  specs: readonly FieldSpec[],
  budget: BuildBudget,
): void {
  const { name, count, origin } = entry
  budget.spendOnEach(resources.all, origin)
  const value: ScalarNode = { type: 'scalar', value: count, origin }
  let found = false
  for (const resource of resources.all) {
    const named = allIds(resource).filter(id => id.name === name)
    for (const spec of named.length > 0 ? specs : []) {
      if (!named.some(id => specMatches(spec, id))) continue
      found = true
      if (!specMatches(spec, currentId(resource))) continue
      editResource(resource, spec, origin, node => checked(node, spec, value), budget)
    }
  }
  if (found) return
  const kinds = specs.map(spec => spec.kind ?? 'any kind').join(', ')
  const message = `replicas: nothing is called ${JSON.stringify(name)} among objects of ${kinds || 'no kind'}`
  throw new BailiwickError('kustomize-invalid', message, { origin, fix: 'Correct the name, or remove the entry.' })
}

function checked(node: Node | undefined, spec: FieldSpec, value: ScalarNode): ScalarNode {
  if (node === undefined) return value
  // what was written in quotes stays so, and is a text then
  if (node.type === 'scalar') {
    const isText = node.quoted || node.style !== undefined
    return isText ? { ...value, value: String(value.value), quoted: true } : value
  }
  throw new BailiwickError('kustomize-invalid', `${spec.path} is no number`, { origin: node.origin })
}
