import { kubernetesLibrary } from '../../cel/kubernetes/kubernetes-library.ts'
import type { CelValue } from '../../cel/values.ts'
import { nodeOf } from '../../fleet/model/synthetic.ts'
import type { MapNode } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { areMet, evaluatePolicy } from '../native/evaluate-policy.ts'
import { type CelPolicy, compilePolicy } from '../native/native-policy.ts'
import { paramsOf } from '../native/params-of.ts'
import type { ComputedRule } from './computed-rules.ts'
import {
  type ContextValue,
  type Fields,
  isFields,
  isList,
  jsonOf,
  NotEvaluatedError,
  textAt,
  valueAt,
} from './jmespath/values.ts'
import type { RuleOutcome } from './validate.ts'

const compiled = new WeakMap<Fields, CelPolicy>()

/** `validate.cel` with `celPreconditions`: Kyverno evaluates both as a ValidatingAdmissionPolicy (validate_cel.go). */
export function validateCel(one: ComputedRule, world: AdmissionWorld, request: AdmissionRequest): RuleOutcome {
  const policy =
    compiled.get(one.rule) ?? compilePolicy(asPolicy(one), { by: 'Kubernetes', library: kubernetesLibrary })
  compiled.set(one.rule, policy)
  const params = paramsOf(world, policy.object, policy.object, request)
  if (typeof params === 'string') throw new NotEvaluatedError(params)
  const isSkipped = (given: CelValue) => areMet(policy, policy.conditions, world, request, given) === false
  if (policy.conditions.length > 0 && params.some(isSkipped)) return { status: 'skip' }
  const verdicts = params.flatMap(given => evaluatePolicy(policy, world, request, given))
  for (const verdict of verdicts) {
    if ('refused' in verdict) return { status: 'fail', message: verdict.refused, path: verdict.field.map(String) }
  }
  const [unclear] = verdicts
  if (unclear && 'unclear' in unclear) throw new NotEvaluatedError(unclear.unclear)
  return { status: 'pass' }
}

/** Wraps the rule in an object with the fields of a ValidatingAdmissionPolicy. */
function asPolicy({ rule, origin }: ComputedRule): KubeObject {
  const of = (key: string): ContextValue => valueAt(rule, ['validate', 'cel', key]) ?? null
  const message = textAt(rule, ['validate', 'message'])
  const expressions = of('expressions')
  const validations = (isList(expressions) ? expressions : []).map(expression =>
    isFields(expression) && message !== '' && textAt(expression, ['message']) === ''
      ? new Map([...expression, ['message', message]])
      : expression,
  )
  const spec = new Map<string, ContextValue>([
    ['matchConditions', rule.get('celPreconditions') ?? null],
    ['variables', of('variables')],
    ['validations', validations],
    ['auditAnnotations', of('auditAnnotations')],
    ['paramKind', of('paramKind')],
    ['paramRef', of('paramRef')],
  ])
  const given = new Map([...spec].filter(([, value]) => value !== null))
  return { root: nodeOf(jsonOf(new Map([['spec', given]])), origin) as MapNode, trail: [] }
}
