import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, type Node, type Path } from '../../kube/node.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { everyPath } from './support/every-path.ts'
import type { Pod } from './support/pod-parts.ts'
import { podsOf } from './support/pods-of.ts'
import { isUnset, textOf } from './support/scalars.ts'

/** Words by which clusters call the nodes that are not for tenants. */
const RESERVED = new Set('controlplane master etcd infra infrastructure platform system management flux'.split(' '))
const HOSTNAME = 'kubernetes.io/hostname'
const AFFINITY: readonly Path[] = [
  ['requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms', '*'],
  ['preferredDuringSchedulingIgnoredDuringExecution', '*', 'preference'],
].map(path => ['affinity', 'nodeAffinity', ...path])

/** Tenants leave it to the scheduler on which of their nodes they run. */
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

function violation({ object, id, node }: Subject, path: Path, value: string, why: string): Violation {
  return {
    node,
    object,
    path,
    value,
    message: message`${objectPart(id.kind, id.namespace, id.name)} controls its node placement with ${quoted('value', value)}: ${untyped(why)}. Allowed: nodes for tenants, which the scheduler picks. The API server accepts it.`,
    fix: message`Remove the field, or ask a fleet admin for dedicated nodes.`,
  }
}
