import { capital, message, part, untyped } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { at, type Node, type Path } from '../../kube/node.ts'
import { POD_SPEC_PATHS } from '../../kube/object.ts'
import { everyPath, isUnset, textOf } from '../model/object-values.ts'
import type { Rule, Subject, Violation } from '../model/rule.ts'
import { type Pod, podsOf } from './pods.ts'

/** Names of nodes that are not for tenants. */
const RESERVED = new Set('controlplane master etcd infra infrastructure platform system management flux'.split(' '))
const HOSTNAME = 'kubernetes.io/hostname'
const AFFINITY: readonly Path[] = [
  ['requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms', '*'],
  ['preferredDuringSchedulingIgnoredDuringExecution', '*', 'preference'],
].map(path => ['affinity', 'nodeAffinity', ...path])

/** The scheduler chooses on which of their nodes tenants run. */
export const nodePlacement: Rule = {
  id: 'node-placement',
  severity: 'high',
  level: 'warning',
  title: 'Pod on platform nodes',
  why: 'A container escape on a control plane node or a platform node exposes the credentials of that node. The pod also takes resources that all tenants depend on. `nodeName` bypasses the taints of a node.',
  source: 'Flux security best practices: node isolation',
  docs: "Remove `nodeName`. Tolerate only taints of the workload's own nodes, by key. Select nodes by labels other than the node's role or name.",
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    for (const pod of podsOf(subject, index)) {
      for (const { path, value, why } of wishes(pod)) yield violation(subject, [...pod.path, ...path], value, why)
    }
  },
}

interface Wish {
  readonly path: Path
  readonly value: string
  readonly why: string
}

function* wishes({ spec }: Pod): Iterable<Wish> {
  const name = at(spec, ['nodeName'])
  if (name && !isUnset(name)) {
    yield {
      path: ['nodeName'],
      value: textOf(name) ?? 'set',
      why: 'the scheduler and the taints of the node are not asked',
    }
  }
  for (const path of everyPath(spec, ['tolerations', '*'])) yield* tolerated(at(spec, path), path)
  const selector = at(spec, ['nodeSelector'])
  if (selector?.type === 'map') {
    for (const [key, { value }] of selector.fields) yield* selected(key, [textOf(value) ?? ''], ['nodeSelector', key])
  }
  for (const term of AFFINITY.flatMap(path => everyPath(spec, path))) {
    for (const list of ['matchExpressions', 'matchFields']) {
      for (const path of everyPath(spec, [...term, list, '*'])) yield* expressed(at(spec, path), path)
    }
  }
}

function* tolerated(node: Node | undefined, path: Path): Iterable<Wish> {
  const key = textOf(at(node, ['key'])) ?? ''
  const exists = textOf(at(node, ['operator'])) === 'Exists'
  if (key === '' && exists) yield { path, value: 'everything', why: 'it tolerates every taint' }
  const value = exists ? '' : (textOf(at(node, ['value'])) ?? '')
  if (isReserved(key) || isReserved(value)) {
    yield { path, value: `${key}=${value}`, why: "it tolerates a taint of the platform's nodes" }
  }
}

function* expressed(node: Node | undefined, path: Path): Iterable<Wish> {
  const operator = textOf(at(node, ['operator'])) ?? ''
  if (operator === 'NotIn' || operator === 'DoesNotExist') return
  const values = everyPath(node!, ['values', '*']).map(one => textOf(at(node, one)) ?? '')
  yield* selected(textOf(at(node, ['key'])) ?? '', values, path)
}

function* selected(key: string, values: readonly string[], path: Path): Iterable<Wish> {
  const value = `${key}=${[...values].sort().join(',')}`
  if (key === HOSTNAME || key === 'metadata.name') yield { path, value, why: 'it names one node' }
  else if (isReserved(key) || values.some(isReserved)) yield { path, value, why: "it selects the platform's nodes" }
}

/** Whether a label, a taint or its value names the platform: `node-role.kubernetes.io/control-plane`, `dedicated=infra`. */
function isReserved(text: string): boolean {
  const name = text.slice(text.lastIndexOf('/') + 1).toLowerCase()
  if (name === 'criticaladdonsonly') return true
  const words = name.replace('control-plane', 'controlplane').replace('control_plane', 'controlplane')
  return words.split(/[^a-z]+/).some(word => RESERVED.has(word))
}

function violation(subject: Subject, path: Path, value: string, why: string): Violation {
  return subject.violation(path, value, {
    message: message`${subject.who} controls its node placement with ${quoted('value', value)}. ${capital(why)}. Allowed: nodes for tenants, which the scheduler picks. The API server accepts it.`,
    fix: message`Remove the field, or ask a fleet admin for dedicated nodes.`,
  })
}

/** The highest priority that a class may have which Kubernetes does not reserve. */
const HIGHEST = 1_000_000_000
/** Runtimes that separate a container better than the usual one, or give it a device. */
const KNOWN_RUNTIMES = /^(?:gvisor|runsc|kata|kata-[a-z-]{1,40}|nvidia|nvidia-[a-z-]{1,40})$/

/** Tenants do not displace what keeps the cluster running. */
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
        yield priorityViolation(subject, [...path, 'priorityClassName'], named, 'no class, or one for tenants')
      const number = Number(textOf(at(spec, ['priority'])) ?? 0)
      if (number > HIGHEST) yield priorityViolation(subject, [...path, 'priority'], String(number), 'no number at all')
      const runtime = textOf(at(spec, ['runtimeClassName'])) ?? ''
      if (isUnknownRuntime(subject, index, runtime)) {
        yield {
          ...priorityViolation(subject, [...path, 'runtimeClassName'], runtime, 'a class that the platform renders'),
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

function priorityViolation(subject: Subject, path: Path, value: string, allowed: string): Violation {
  return subject.violation(path, value, {
    message: message`${subject.who} sets ${part('field', String(path.at(-1)))} to ${quoted('value', value)}. Allowed: ${untyped(allowed)}. The API server accepts it, unless a ResourceQuota limits the class.`,
    fix: message`Remove ${part('field', String(path.at(-1)))}.`,
    edit: { remove: true },
    ...(POD_SPEC_PATHS.has(subject.kind) ? {} : { level: 'warning' }),
  })
}
