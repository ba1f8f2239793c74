import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, type Path } from '../../kube/node.ts'
import { message, part, untyped } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { isUnset, textOf } from './support/scalars.ts'

/** How a Service of a tenant is reached: inside the cluster. */
export const networkExposure: Rule = {
  id: 'network-exposure',
  severity: 'high',
  title: 'Service exposed outside the cluster',
  why: 'A Service with `externalIPs` takes the traffic of any address, including other Services and the API server. A node port or a load balancer exposes the workload to every client of the nodes. The ingress and its policies do not apply.',
  source: 'CVE-2020-8554',
  docs: 'Use type `ClusterIP` behind an Ingress or a route. A Service of type NodePort or LoadBalancer is a warning, `externalIPs` a violation.',
  kinds: ['/Service'],
  *checkTenantObject(subject) {
    yield* externalAddresses(subject)
    const { root } = subject.object
    const type = textOf(at(root, ['spec', 'type']))
    if (type === 'NodePort' || type === 'LoadBalancer') {
      yield { ...violation(subject, ['spec', 'type'], type, 'ClusterIP'), level: 'warning' }
    }
    const address = textOf(at(root, ['spec', 'loadBalancerIP'])) ?? ''
    if (address !== '') {
      yield { ...violation(subject, ['spec', 'loadBalancerIP'], address, 'no requested address'), level: 'warning' }
    }
  },
}

function* externalAddresses(subject: Subject): Iterable<Violation> {
  const path = ['spec', 'externalIPs']
  const list = at(subject.object.root, path)
  if (!list || isUnset(list)) return
  if (list.type !== 'list') {
    yield violation(subject, path, textOf(list) ?? 'set', 'nothing')
    return
  }
  for (const [index, item] of list.items.entries()) {
    yield violation(subject, [...path, index], textOf(item) ?? 'set', 'nothing')
  }
}

function violation({ object, id, node }: Subject, path: Path, value: string, allowed: string): Violation {
  const field = path.filter(step => typeof step === 'string').join('.')
  return {
    node,
    object,
    path,
    value,
    message: message`${objectPart(id.kind, id.namespace, id.name)} is exposed outside the cluster: ${part('field', field)} is ${quoted('value', value)}. Allowed: ${untyped(allowed)}. The API server accepts it.`,
    fix: message`Remove ${part('field', field)}, and route traffic to the Service with an Ingress or a route.`,
  }
}
