import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, type Path } from '../../kube/node.ts'
import { POD_SPEC_PATHS } from '../../kube/pod-spec-paths.ts'
import { message, part, untyped } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { podsOf } from './support/pods-of.ts'
import { textOf } from './support/scalars.ts'

/** The highest priority that a class may have which Kubernetes does not reserve. */
const HIGHEST = 1_000_000_000
/** Runtimes that separate a container better than the usual one, or give it a device. */
const KNOWN_RUNTIMES = /^(?:gvisor|runsc|kata|kata-[a-z-]{1,40}|nvidia|nvidia-[a-z-]{1,40})$/

/** Tenants do not take the place of what keeps the cluster alive. */
export const podPriority: Rule = {
  id: 'pod-priority',
  severity: 'medium',
  title: 'System priority or runtime class',
  why: 'Kubernetes never evicts a pod of a system priority class, and evicts DNS, networking or Bailiwick for it. Another runtime class can be one without a sandbox.',
  docs: 'Remove `priorityClassName`, or name a platform class that tenants may use. Name only runtime classes that the platform renders.',
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    for (const pod of podsOf(subject, index)) {
      const { path, spec } = pod
      const named = textOf(at(spec, ['priorityClassName'])) ?? ''
      if (isSystem(named))
        yield violation(subject, [...path, 'priorityClassName'], named, 'no class, or one for tenants')
      const number = Number(textOf(at(spec, ['priority'])) ?? 0)
      if (number > HIGHEST) yield violation(subject, [...path, 'priority'], String(number), 'no number at all')
      const runtime = textOf(at(spec, ['runtimeClassName'])) ?? ''
      if (isUnknownRuntime(subject, index, runtime)) {
        yield {
          ...violation(subject, [...path, 'runtimeClassName'], runtime, 'a class that the platform renders'),
          profile: 'restricted',
        }
      }
    }
  },
}

const isSystem = (name: string) => name.startsWith('system-') || name === 'openshift-user-critical'

function isUnknownRuntime({ node }: Subject, index: FleetIndex, name: string): boolean {
  if (name === '' || KNOWN_RUNTIMES.test(name)) return false
  return index.platformObject(node.cluster, 'node.k8s.io/RuntimeClass', '', name) === undefined
}

function violation(subject: Subject, path: Path, value: string, allowed: string): Violation {
  const { object, id, node } = subject
  return {
    node,
    object,
    path,
    value,
    message: message`${objectPart(id.kind, id.namespace, id.name)} sets ${part('field', String(path.at(-1)))} to ${quoted('value', value)}. Allowed: ${untyped(allowed)}. The API server accepts it, unless a ResourceQuota limits the class.`,
    fix: message`Remove ${part('field', String(path.at(-1)))}.`,
    edit: { remove: true },
    ...(POD_SPEC_PATHS.has(subject.kind) ? {} : { level: 'warning' }),
  }
}
