import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { at, stringAt } from '../../../kube/node.ts'
import { message, part } from '../../../message/message.ts'
import type { Breach, RuleContext } from '../../model/rule.ts'
import { TENANT_KEYS } from './protected-metadata.ts'

/** A Namespace that the platform gave to one tenant before a change, and gives to another after it, maybe in another place. */
export function* movedNamespace({ object, id, node }: Subject, { before }: RuleContext): Iterable<Breach> {
  // of several versions the last one counts
  const earlier = before?.platformObject(node.cluster, '/Namespace', '', id.name)
  if (!before || !earlier) return
  const known = before.versionsOf(node.cluster, '/Namespace', '', id.name)
  for (const key of TENANT_KEYS) {
    const path = ['metadata', 'labels', key]
    const was = stringAt(earlier.root, path)
    const is = at(object.root, path)
    const text = stringAt(object.root, path)
    // a version that stood there already takes nothing from anybody now
    if (!was || !is || text === was || known.some(one => stringAt(one.object.root, path) === text)) continue
    yield {
      node,
      object,
      path,
      value: `${key} ${was} to ${text ?? is.type}`,
      message: message`${objectPart('Namespace', '', id.name)} belongs to tenant ${quoted('tenant', was)}, but its label ${part('field', key)} now gives it, with everything in it, to ${quoted('tenant', text ?? is.type)}. Allowed: the same tenant. Flux and the API server accept it.`,
      fix: message`Keep ${part('field', key)}: ${quoted('tenant', was)} and create a separate namespace for the other tenant. To move the namespace, waive the rule for it or merge with an override.`,
    }
  }
}
