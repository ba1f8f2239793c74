import { at } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import type { RuleWorld } from './evaluate-rule.ts'
import { appliedTo, exceptionsFor } from './exceptions.ts'
import { type ContextValue, fromNode, Unknown } from './jmespath/values.ts'
import type { WrittenRule } from './policy-rules.ts'
import { validateCel } from './validate-cel.ts'

/** The parts of the fleet that a policy rule may read. */
export function ruleWorld(world: AdmissionWorld, rule: WrittenRule, asked: AdmissionRequest): RuleWorld {
  const exceptions = exceptionsFor(world, rule)
  return {
    policyNamespace: rule.policyNamespace,
    configMap: (namespace, name) => configMapOf(world.object('/ConfigMap', namespace, name)),
    validateCel: one => validateCel(one, world, asked),
    exceptions: (request, context) => appliedTo(exceptions, request, context),
  }
}

function configMapOf(object: KubeObject | undefined): ContextValue | undefined {
  if (!object) return undefined
  const [data, metadata] = [at(object.root, ['data']), at(object.root, ['metadata'])]
  const values = object.sealed ? new Unknown('its values are encrypted') : data ? fromNode(data) : null
  return new Map<string, ContextValue>([
    ['data', values],
    ['metadata', metadata ? fromNode(metadata) : new Map()],
  ])
}
