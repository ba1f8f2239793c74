import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { isAbsent, type Node, type ScalarNode } from '../../kube/node.ts'
import type { BuildBudget } from '../build-budget.ts'
import { editResource, type FieldSpec, specMatches } from '../resource/field-spec.ts'
import { allIds, currentId } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { invalid, listField, refuseOtherFields, structNode, type TransformingField, textField } from './field.ts'

/** One entry of `replicas`. */
export interface ReplicaEntry {
  readonly origin: Origin
  readonly name: string
  readonly count: number | bigint
}

export const replicas: TransformingField<readonly ReplicaEntry[]> = {
  goType: '[Replica',
  effect: 'changes',
  read: root => listField(root, 'replicas').map(readReplica),
  apply: (resources, entries, { config, budget }) => {
    for (const entry of entries) setReplicas(resources, entry, config.replicas, budget)
  },
  docs: { built: 'objects that have or had the name' },
}

export function readReplica(node: Node): ReplicaEntry {
  const entry = structNode(node, 'replicas[]')
  refuseOtherFields(entry, ['name', 'count'], 'replicas')
  const count = entry.fields.get('count')?.value
  const name = textField(entry, 'name')?.text ?? ''
  return isAbsent(count)
    ? { origin: entry.origin, name, count: 0 }
    : { origin: count.origin, name, count: integer(count) }
}

function integer(node: Node): number | bigint {
  const value = node.type === 'scalar' ? node.value : undefined
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
  if (!isInteger || BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) {
    return invalid('replicas: count is not an integer', node.origin)
  }
  return value
}

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
  const message = `replicas: no object of ${kinds || 'any supported kind'} is named ${JSON.stringify(name)}`
  throw new BailiwickError('kustomize-invalid', message, { origin, fix: 'Correct the name, or remove the entry.' })
}

function checked(node: Node | undefined, spec: FieldSpec, value: ScalarNode): ScalarNode {
  if (node === undefined) return value
  // what was written in quotes stays so, and is a text then
  if (node.type === 'scalar') {
    const isText = node.quoted || node.style !== undefined
    return isText ? { ...value, value: String(value.value), quoted: true } : value
  }
  throw new BailiwickError('kustomize-invalid', `${spec.path}: not a number`, { origin: node.origin })
}
