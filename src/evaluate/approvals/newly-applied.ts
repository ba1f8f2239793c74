import { causeOf } from '../../facts/fingerprint.ts'
import { HeldNodes } from '../../facts/held-nodes.ts'
import { shown, shownObject } from '../../facts/shown.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { leftOutOf } from '../applied/left-out.ts'
import { placeOf } from '../applied/place-of.ts'

/**
 * What an existing hole of the platform hides, where the change has it applied in a new place, with other rights, in another
 * form or again: it is not evaluated there either.
 */
export function newlyApplied(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = [...unseenParts(base)]
  const places = new Set(before.flatMap(({ cause, place }) => place.known.map(one => `${cause} ${one}`)))
  const causes = new Set(before.map(({ cause }) => cause))
  return [...unseenParts(head)].flatMap(({ cause, place, error, origin, node }) => {
    if (!causes.has(cause) || place.now === undefined || places.has(`${cause} ${place.now}`)) return []
    const path = origin.file
    const name = shownObject('Kustomization', node.namespace, node.name)
    const message = `${path}: what is not evaluated of it would be applied anew, by ${name} on cluster ${shown(node.cluster)}`
    return [{ rule: error.rule ?? error.code, path, message }]
  })
}

/** What the platform's Kustomizations hold that Flux applies and nobody evaluates. */
function* unseenParts(fleet: Fleet) {
  const held = new HeldNodes(fleet)
  for (const node of fleet.nodes) {
    if (node.tenant !== undefined || node.holes === undefined) continue
    for (const { error, hides, isFatal, remote } of leftOutOf(node)) {
      if (isFatal || remote !== undefined) continue
      const origin = error.origin ?? node.kustomization.root.origin
      yield {
        cause: `${causeOf(error, origin)} ${hides}`,
        place: placeOf(node, held.has(node.key)),
        error,
        origin,
        node,
      }
    }
  }
}
