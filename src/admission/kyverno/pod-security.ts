import {
  type ContextValue,
  type Fields,
  goText,
  matchesWildcard,
  RuleError,
  textAt,
  valueAt,
} from '../jmespath/values.ts'
import {
  CONTROLS,
  type Fault,
  itemsIn,
  type PodContainer,
  type PodParts,
  placeOf,
  podOf,
  textIn,
} from './pod-security-controls.ts'
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

/** The names that Kyverno's exclusions use for controls (pkg/pss/utils). */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  Capabilities: ['capabilities_baseline', 'capabilities_restricted'],
  Seccomp: ['seccompProfile_baseline', 'seccompProfile_restricted'],
  'Privileged Containers': ['privileged'],
  'Host Ports': ['hostPorts'],
  '/proc Mount Type': ['procMount'],
  HostProcess: ['windowsHostProcess'],
  SELinux: ['seLinuxOptions'],
  'Host Namespaces': ['hostNamespaces'],
  'HostPath Volumes': ['hostPathVolumes'],
  Sysctls: ['sysctls'],
  AppArmor: ['appArmorProfile'],
  'Privilege Escalation': ['allowPrivilegeEscalation'],
  'Running as Non-root': ['runAsNonRoot'],
  'Running as Non-root user': ['runAsUser'],
  'Volume Types': ['restrictedVolumes'],
}

/** Evaluates a rule's `podSecurity` for a Pod, minus the exclusions of the rule and of `more` (pkg/pss of Kyverno). */
export function evaluatePodSecurity(
  standard: ContextValue,
  metadata: ContextValue | undefined,
  spec: ContextValue | undefined,
  more: readonly ContextValue[],
): readonly ControlFaults[] {
  const pod = podOf(metadata, spec)
  const [level, minor] = [textAt(standard, ['level']), minorOf(textAt(standard, ['version']))]
  const all = faultsOf(pod, level, minor)
  const excluded = (found: readonly ControlFaults[], list: readonly ContextValue[]) =>
    list.reduce<readonly ControlFaults[]>((left, one) => without(left, one, pod, level, minor), found)
  const own = excluded(all, itemsIn(valueAt(standard, ['exclude'])))
  return own.length === 0 ? own : excluded(own, more)
}

function minorOf(version: string): number {
  if (version === '' || version === 'latest') return Number.POSITIVE_INFINITY
  const [, minor] = /^v1\.(\d{1,4})$/.exec(version) ?? []
  if (minor === undefined) throw new RuleError(`podSecurity: ${JSON.stringify(version)} is not a version`)
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

/** The faults that remain: each fault found in the excluded part removes one matching fault. */
function without(
  found: readonly ControlFaults[],
  exclude: ContextValue,
  pod: PodParts,
  level: string,
  minor: number,
): readonly ControlFaults[] {
  const images = itemsIn(valueAt(exclude, ['images'])).map(textIn)
  const part = images.length === 0 ? ofPodOnly(pod) : withImages(pod, images)
  const name = textAt(exclude, ['controlName'])
  const ids = Object.hasOwn(NAMES, name) ? NAMES[name]! : []
  const left = new Map(found.map(({ control, faults }) => [control, [...faults]]))
  for (const { control, faults } of faultsOf(part, level, minor)) {
    if (!ids.includes(control)) continue
    for (const one of faults) {
      if (!isExcluded(one, exclude)) continue
      const list = left.get(control) ?? []
      const index = list.findIndex(other => isSameFault(one, other, images.length > 0, part, pod))
      if (index >= 0) list.splice(index, 1)
      if (list.length === 0) left.delete(control)
    }
  }
  return [...left].map(([control, faults]) => ({ control, faults }))
}

const withoutNumbers = (field: string) => field.replaceAll(/\d+/g, '*')

function isExcluded({ field, values }: Fault, exclude: ContextValue): boolean {
  if (field === '') return false
  const restricted = textAt(exclude, ['restrictedField'])
  if (restricted !== '' && withoutNumbers(field) !== restricted) return false
  const patterns = itemsIn(valueAt(exclude, ['values'])).map(goText)
  const given = values.filter(value => value !== '')
  return patterns.length === 0 || given.every(value => patterns.some(pattern => matchesWildcard(pattern, value)))
}

function isSameFault(one: Fault, other: Fault, byContainer: boolean, part: PodParts, pod: PodParts): boolean {
  if (withoutNumbers(one.field) !== withoutNumbers(other.field)) return false
  const [mine, its] = [containerOf(one, part), containerOf(other, pod)]
  return !byContainer || its === undefined || mine?.name === its.name
}

const containerOf = ({ field }: Fault, { containers }: PodParts): PodContainer | undefined =>
  containers.find(one => field.startsWith(`${placeOf(one)}.`))

/** For an exclusion without images Kyverno replaces all containers by an empty one. */
const ofPodOnly = (pod: PodParts): PodParts => ({
  ...pod,
  containers: [{ kind: 'containers', index: 0, name: 'fake', fields: new Map() }],
})

/** Only the containers with these images, without the Pod's own fields. */
function withImages({ containers }: PodParts, images: readonly string[]): PodParts {
  const chosen = containers.filter(one =>
    images.some(pattern => matchesWildcard(pattern, textIn(one.fields.get('image')))),
  )
  const counts = new Map<string, number>()
  const numbered = chosen.map(one => {
    const index = counts.get(one.kind) ?? 0
    counts.set(one.kind, index + 1)
    return { ...one, index }
  })
  return { annotations: new Map(), spec: new Map(), containers: numbered }
}
