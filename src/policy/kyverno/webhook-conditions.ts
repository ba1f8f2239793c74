import { at } from '../../kube/node.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { areMet } from '../native/evaluate-policy.ts'
import type { RuleAnswer } from './evaluate-rule.ts'
import { conditionsOf, kyvernoSettings } from './kyverno-settings.ts'
import type { WrittenRule } from './policy-rules.ts'

/**
 * The answer of a rule whose webhook's conditions are not met or not known; undefined where they are met. Those of a policy replace
 * those of Kyverno's ConfigMap.
 */
export function answerOfConditions(
  world: AdmissionWorld,
  { policy }: WrittenRule,
  request: AdmissionRequest,
): RuleAnswer | 'not called' {
  if (world.given) return undefined
  const own = at(policy.root, ['spec', 'webhookConfiguration', 'matchConditions'])
  const isOwn = own?.type === 'list' && own.items.length > 0
  const conditions = isOwn ? conditionsOf(own) : kyvernoSettings(world).conditions
  if (!conditions) return undefined
  const isMet = areMet(conditions, conditions.conditions, world, request)
  if (isMet === true) return undefined
  if (isMet === false) return 'not called'
  return 'unclear' in isMet
    ? { status: 'unclear', why: isMet.unclear }
    : { status: 'error', message: isMet.refused, path: [] }
}
