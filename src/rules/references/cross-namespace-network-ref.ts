import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { kindsNaming } from '../../kube/capabilities/index.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { type Message, message, untyped } from '../../message/message.ts'
import type { Rule, RuleContext } from '../model/rule.ts'
import { FLAGGER_KINDS, hostOf } from './support/endpoints.ts'
import { foreignNames } from './support/foreign-names.ts'
import { insideOf, isShareable } from './support/inside-of.ts'

const MANUAL = ['/Endpoints', 'discovery.k8s.io/EndpointSlice']
const SERVICE = '/Service'
/** Their annotations name services, too. */
const ANNOTATED = ['networking.k8s.io/Ingress', 'extensions/Ingress']

/** Traffic of a tenant stays with the tenant's services. */
export const crossNamespaceNetworkRef: Rule = {
  id: 'cross-namespace-network-ref',
  severity: 'medium',
  level: 'warning',
  title: "Traffic to another tenant's Service",
  why: "An ingress controller, a gateway or a mesh can connect to every namespace. A backend in another tenant's namespace bypasses the network policies of that namespace. A route for the host name of another tenant's Service takes its traffic.",
  source: 'CVE-2021-25740; Gateway API, ReferenceGrant',
  docs: "Send traffic only to Services in the tenant's namespaces. `parentRefs` may name the platform's Gateways. Leave EndpointSlices to Kubernetes, which creates them from the pods of a Service.",
  kinds: [...new Set([SERVICE, ...MANUAL, ...ANNOTATED, ...kindsNaming('service')])],
  *checkTenantObject(subject, context) {
    const { object, id, kind, node } = subject
    const fix = message`Set the backend to a Service in the tenant's namespaces.`
    const who = objectPart(id.kind, id.namespace, id.name)
    for (const { path, value, what } of ofKubernetes(subject, context, node.tenant))
      yield { node, object, path, value, message: message`${who} ${what}.`, fix }
    for (const { path, value, what } of foreignNames(subject, context, 'service')) {
      const host = hostOf(stringAt(object.root, path) ?? '')?.host ?? ''
      const isService = isShareable(insideOf(context.index, node.cluster, node.tenant, host, true))
      // ssrf-endpoint speaks of the others
      if (FLAGGER_KINDS.includes(kind) && path.at(-1) === 'address' && !isService) continue
      const problem = message`${who} sends traffic to ${what}, outside the tenant's namespaces. Allowed: Services in the tenant's namespaces.`
      yield { node, object, path, value, message: problem, fix }
    }
  },
}

interface Found {
  readonly path: Path
  readonly value: string
  readonly what: Message
}

function* ofKubernetes({ object, kind, node }: Subject, { index }: RuleContext, tenant: string): Iterable<Found> {
  if (MANUAL.includes(kind)) {
    const path = kind === '/Endpoints' ? ['subsets'] : ['endpoints']
    const list = at(object.root, path)
    if (list?.type !== 'list' || list.items.length === 0) return
    yield { path, value: 'addresses', what: message`names IP addresses, which can belong to any pod` }
  }
  if (kind !== SERVICE || stringAt(object.root, ['spec', 'type']) !== 'ExternalName') return
  const path = ['spec', 'externalName']
  const host = stringAt(object.root, path)?.trim() ?? ''
  const inside = insideOf(index, node.cluster, tenant, host, true)
  if (inside)
    yield {
      path,
      value: host.toLowerCase(),
      what: message`points to ${quoted('value', host)}, which is ${untyped(inside.what)}`,
    }
}
