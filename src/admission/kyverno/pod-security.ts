import { type ContextValue, type Fields, NotEvaluatedError, RuleError, textAt, valueAt } from '../jmespath/values.ts'
import { CONTROLS, type Fault, itemsIn, type PodParts, podOf } from './pod-security-controls.ts'
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

/** The faults of a Pod for one control. */
interface ControlFaults {
  readonly control: string
  readonly faults: readonly Fault[]
}

/**
 * Evaluates a rule's `podSecurity` for a Pod (pkg/pss of Kyverno). What exclusions, also of exceptions (`more`), may excuse is not
 * evaluated: the faults of other controls count.
 */
export function evaluatePodSecurity(
  standard: ContextValue,
  metadata: ContextValue | undefined,
  spec: ContextValue | undefined,
  more: readonly ContextValue[],
): readonly ControlFaults[] {
  const minor = minorOf(textAt(standard, ['version']))
  const all = faultsOf(podOf(metadata, spec), textAt(standard, ['level']), minor)
  const excluded = [...itemsIn(valueAt(standard, ['exclude'])), ...more].map(one => textAt(one, ['controlName']))
  const certain = all.filter(({ control }) => !excluded.includes(NAMES[control] ?? ''))
  if (certain.length === 0 && all.length > 0)
    throw new NotEvaluatedError(`exclusions of podSecurity are not supported: ${excluded.join(', ')}`)
  return certain
}

/** The name that exclusions use for a control (pkg/pss/utils). */
const NAMES: Readonly<Record<string, string>> = {
  ...{ capabilities_baseline: 'Capabilities', capabilities_restricted: 'Capabilities', hostPorts: 'Host Ports' },
  ...{ seccompProfile_baseline: 'Seccomp', seccompProfile_restricted: 'Seccomp', procMount: '/proc Mount Type' },
  ...{ privileged: 'Privileged Containers', windowsHostProcess: 'HostProcess', seLinuxOptions: 'SELinux' },
  ...{ hostNamespaces: 'Host Namespaces', hostPathVolumes: 'HostPath Volumes', sysctls: 'Sysctls' },
  ...{
    appArmorProfile: 'AppArmor',
    allowPrivilegeEscalation: 'Privilege Escalation',
    runAsUser: 'Running as Non-root user',
  },
  ...{ runAsNonRoot: 'Running as Non-root', restrictedVolumes: 'Volume Types' },
}

/** Versions whose checks differ otherwise than by one field more. */
const OLDEST = 25

function minorOf(version: string): number {
  if (version === '' || version === 'latest') return Number.POSITIVE_INFINITY
  const [, minor] = /^v1\.(\d{1,4})$/.exec(version) ?? []
  if (minor === undefined) throw new RuleError(`podSecurity: ${JSON.stringify(version)} is not a version`)
  if (Number(minor) < OLDEST)
    throw new NotEvaluatedError(`podSecurity of versions before v1.${OLDEST} is not supported`)
  return Number(minor)
}

function faultsOf(pod: PodParts, level: string, minor: number): readonly ControlFaults[] {
  return CONTROLS.flatMap(control => {
    if (level === 'baseline' && control.level !== 'baseline') return []
    const [first] = control.versions
    const [, check] = control.versions.findLast(([since]) => since <= minor) ?? first!
    const faults = check(pod)
    return faults.length > 0 ? [{ control: control.id, faults }] : []
  })
}
