import { objectPart } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { controllerRunBy } from '../../../fleet/bootstrap/flux-controllers.ts'
import { controllerFlags } from '../../../fleet/lockdown/controller-flags.ts'
import { flagsByController, LOCKDOWN_FLAGS, lockdownValue } from '../../../fleet/lockdown/lockdown-flags.ts'
import { message, part, untyped } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'

const NAMESPACE = 'flux-system'

/**
 * An instance of a controller of Flux that another Kustomization applies than the cluster's root, such as a shard, and that
 * lacks a flag which the installed one has.
 */
export function* instanceElsewhere({ object, id, node }: Subject, { index }: RuleContext): Iterable<Violation> {
  const runs = controllerRunBy(object, NAMESPACE)
  // of a root all are read with the cluster; what a tenant runs has the tenant's rights
  if (runs === undefined || node.parent === undefined || node.tenant !== undefined) return
  const installed = flagsByController(index.cluster(node.cluster)?.lockdown.flux).get(runs)
  if (!installed) return
  const flags = controllerFlags(object, runs)
  for (const flag of LOCKDOWN_FLAGS) {
    const isOff = lockdownValue(flags, flag) === ''
    if (!flag.controllers.includes(runs) || !isOff || lockdownValue(installed, flag) === '') continue
    yield {
      node,
      object,
      path: ['spec', 'template', 'spec', 'containers', 0, 'args'],
      value: `${id.name} ${flag.name} `,
      message: message`${objectPart(id.kind, id.namespace, id.name)} runs ${part('object', runs)} without --${part('value', flag.name)}, which the installed instance has: ${untyped(flag.why(runs, ''))}. Allowed: the flag on every instance.`,
      fix: message`Add --${part('value', flag.name)} to the container's args.`,
    }
  }
}
