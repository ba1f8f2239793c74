import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-text.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { evaluateConditions } from './conditions.ts'
import { readExceptions } from './exception-settings.ts'
import { type Fields, fromNode, isFields, NotEvaluatedError, RuleError } from './jmespath/values.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import type { JsonContext } from './json-context.ts'
import type { WrittenRule } from './policy-rules.ts'
import type { RuleRequest } from './rule-request.ts'
import { isExcepted } from './selection.ts'

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE'] as const
const EXCEPTION = 'kyverno.io/PolicyException'

/** The platform's PolicyExceptions that name a rule, in namespaces from which Kyverno reads them. */
export function exceptionsFor(world: AdmissionWorld, { policy, name }: WrittenRule): readonly KubeObject[] {
  const id = idOf(policy)
  const full = id.kind === 'Policy' ? `${id.namespace}/${id.name}` : id.name
  const named = world.policies(EXCEPTION).filter(exception => {
    const list = at(exception.root, ['spec', 'exceptions'])
    return (
      list?.type === 'list' &&
      list.items.some(
        one =>
          stringAt(one, ['policyName']) === full &&
          (textsOf(at(one, ['ruleNames'])) ?? []).some(pattern => matchesWildcard(pattern, name)),
      )
    )
  })
  return readExceptions(world, 'kyverno.io', named)
}

/** `spec` of the exceptions that match the request; an exception whose conditions Kyverno cannot evaluate does not match. */
export function appliedTo(exceptions: readonly KubeObject[], request: RuleRequest, context: JsonContext): Fields[] {
  return exceptions.flatMap(exception => {
    const spec = fromNode(at(exception.root, ['spec']) ?? exception.root)
    return isFields(spec) && applies(spec, request, context) ? [spec] : []
  })
}

function applies(spec: Fields, request: RuleRequest, context: JsonContext): boolean {
  const selected = isExcepted(spec.get('match'), request)
  if (selected === false && OPERATIONS.some(operation => isExcepted(spec.get('match'), { ...request, operation })))
    throw new NotEvaluatedError('a PolicyException names operations, which Kyverno 1.19 does not compare')
  if (selected === undefined) throw new NotEvaluatedError('a PolicyException asks for what only the cluster knows')
  if (!selected) return false
  try {
    return evaluateConditions(spec.get('conditions'), context).isMet
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
}
