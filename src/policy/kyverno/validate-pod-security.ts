import { type ContextValue, type Fields, RuleError, textAt, valueAt } from './jmespath/values.ts'
import { evaluatePodSecurity } from './pod-security/evaluate-pod-security.ts'
import type { RuleOutcome } from './validate.ts'

const TEMPLATE = ['spec', 'template']
const TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', []],
  ...['DaemonSet', 'Deployment', 'Job', 'StatefulSet', 'ReplicaSet', 'ReplicationController'].map(
    (kind): [string, readonly string[]] => [kind, TEMPLATE],
  ),
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template']],
])

/** `validate.podSecurity`; undefined for a deletion. `more`: exclusions from PolicyExceptions. */
export function validatePodSecurity(
  validate: Fields,
  object: ContextValue | undefined,
  more: readonly ContextValue[],
): RuleOutcome | undefined {
  if (object === undefined) return undefined
  const kind = textAt(object, ['kind'])
  const path = TEMPLATES.get(kind)
  if (!path) throw new RuleError('podSecurity: could not find correct resource type')
  const template = valueAt(object, path)
  // for a CronJob, Kyverno reads the annotations one level above the Pod template
  const metadata =
    kind === 'CronJob' ? valueAt(object, ['spec', 'jobTemplate', 'metadata']) : valueAt(template, ['metadata'])
  const standard = valueAt(validate, ['podSecurity'])!
  const found = evaluatePodSecurity(standard, metadata, valueAt(template, ['spec']), more)
  const [first] = found
  if (!first) return { status: more.length > 0 ? 'skip' : 'pass' }
  const named = `${textAt(standard, ['level'])}:${textAt(standard, ['version']) || 'latest'}`
  const controls = found.map(({ control, faults }) => `${control} (${faults.map(({ field }) => field).join(', ')})`)
  const violated = `violates PodSecurity "${named}": ${controls.join('; ')}`
  const message = textAt(validate, ['message'])
  const steps = first.faults[0]!.field.split(/[.[\]]+/).filter(step => step !== '')
  return { status: 'fail', message: message === '' ? violated : `${message}; ${violated}`, path: [...path, ...steps] }
}
