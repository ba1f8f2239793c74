import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { idOf } from '../../kube/object.ts'
import type { EvaluatedNode, Evaluation } from '../../rules/model/finding.ts'
import { readsFrom } from './reads-from.ts'

/**
 * An evaluation that nobody applies, with the objects by name only: crossing to another thread costs what they are long. Of a
 * change in a tenant's repository at `changed` the objects of its tenants stay: by them, and by the names of others, a report
 * knows which words it must not say.
 */
export function leanEvaluation(evaluation: Evaluation, head: Fleet, changed: string | undefined): Evaluation {
  const own = evaluation.nodes.filter(node => changed !== undefined && readsFrom(node, changed))
  const owners = new Set(own.map(node => node.tenant))
  const rendered = new Map(head.nodes.map(node => [node.key, node]))
  const nodes = evaluation.nodes.map((node): EvaluatedNode => {
    if (owners.has(node.tenant)) return node
    const { places: _places, ...rest } = node
    return { ...rest, objects: namesOf(rendered.get(node.key)!) }
  })
  return { ...evaluation, nodes }
}

const known = new WeakMap<FleetNode['objects'], readonly string[]>()

/** Each object as its kind and name only, once for each list. */
function namesOf({ objects }: FleetNode): readonly string[] {
  const before = known.get(objects)
  if (before) return before
  const names = objects.map(object => {
    const { kind, name, namespace } = idOf(object)
    return JSON.stringify({ kind, metadata: { name, namespace } })
  })
  known.set(objects, names)
  return names
}
