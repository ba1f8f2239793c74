import { shown, shownObject } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { kindsNaming } from '../../kube/capabilities/index.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import type { Rule, RuleContext } from '../model/rule.ts'
import { foreignNames } from './support/foreign-names.ts'
import { insideOf } from './support/inside-of.ts'

const MANUAL = ['/Endpoints', 'discovery.k8s.io/EndpointSlice']
const SERVICE = '/Service'
/** Their annotations name services, too. */
const ANNOTATED = ['networking.k8s.io/Ingress', 'extensions/Ingress']

/** Traffic of a tenant stays with the tenant's services. */
export const crossNamespaceNetworkRef: Rule = {
  id: 'cross-namespace-network-ref',
  severity: 'medium',
  level: 'warning',
  title: "Traffic is sent to services of the tenant's own namespaces",
  why: 'An ingress controller, a gateway or a mesh reaches every namespace. A name, a route or an address of a service of another tenant bypasses the network policies that protect that service. A route for the name of such a service takes its traffic.',
  source: 'CVE-2021-25740; Gateway API, ReferenceGrant',
  docs: "Send traffic to services of the tenant's own namespaces. Gateways of the platform may be named in `parentRefs`. Addresses of endpoints are left to Kubernetes, which takes them from the pods of a Service.",
  kinds: [...new Set([SERVICE, ...MANUAL, ...ANNOTATED, ...kindsNaming('service')])],
  *checkTenantObject(subject, context) {
    const { object, id, node } = subject
    const fix = "Name a service of the tenant's own namespaces."
    const who = shownObject(id.kind, id.namespace, id.name)
    for (const { path, value, what } of ofKubernetes(subject, context, node.tenant))
      yield { node, object, path, value, message: `${who} ${what}.`, fix }
    for (const { path, value, what } of foreignNames(subject, context, 'service')) {
      const message = `${who} leads to ${what}, outside of the tenant's namespaces.`
      yield { node, object, path, value, message, fix }
    }
  },
}

interface Found {
  readonly path: Path
  readonly value: string
  readonly what: string
}

function* ofKubernetes({ object, kind, node }: Subject, { index }: RuleContext, tenant: string): Iterable<Found> {
  if (MANUAL.includes(kind)) {
    const path = kind === '/Endpoints' ? ['subsets'] : ['endpoints']
    const list = at(object.root, path)
    if (list?.type !== 'list' || list.items.length === 0) return
    yield { path, value: 'addresses', what: 'names addresses of its own, which may be those of pods of anybody' }
  }
  if (kind !== SERVICE || stringAt(object.root, ['spec', 'type']) !== 'ExternalName') return
  const path = ['spec', 'externalName']
  const host = stringAt(object.root, path)?.trim() ?? ''
  const inside = insideOf(index, node.cluster, tenant, host, true)
  if (inside) yield { path, value: host.toLowerCase(), what: `leads to ${shown(host)}, which is ${inside.what}` }
}
