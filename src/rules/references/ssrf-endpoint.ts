import { objectPart, quoted } from '../../facts/shown.ts'
import { sourceKinds } from '../../facts/source-fields.ts'
import type { Subject } from '../../facts/subject.ts'
import { allowedSourcesOf, allowsSource } from '../../fleet/config/allowed-sources.ts'
import { PROVIDER } from '../../flux/kinds.ts'
import { readAddress } from '../../kube/address/source-address.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { type Endpoint, endpointsOf, FLAGGER_KINDS, hostOf } from './support/endpoints.ts'
import { insideOf, isShareable } from './support/inside-of.ts'

/** Flux's controllers connect for a tenant only to what lies outside of the cluster. */
export const ssrfEndpoint: Rule = {
  id: 'ssrf-endpoint',
  severity: 'high',
  title: 'Address inside the cluster',
  why: "Flux's controllers can connect to addresses that a tenant's pods cannot: the API server, the cloud's metadata service, and Services behind network policies. A tenant that names such an address receives the response in a status or an artifact.",
  source: 'CWE-918; notification-controller api/v1beta3/provider_types.go; kyverno/policies flux/verify-flux-sources',
  docs: "Use an address outside the cluster, or a Service in the tenant's namespaces. Of Flagger's webhooks, metric and alert providers, Services of the platform outside the standard namespaces may be shared. List a cluster-internal registry or receiver that tenants may use in `allowedSources` of .github/bailiwick.yaml. An address in an encrypted Secret is an unknown value and a warning.",
  kinds: [...sourceKinds, PROVIDER, ...FLAGGER_KINDS],
  *checkTenantObject(subject, context) {
    for (const endpoint of endpointsOf(subject, context)) {
      const violation = evaluateFleet(subject, context, endpoint, subject.node.tenant)
      if (violation) yield violation
    }
  },
}

function evaluateFleet(
  subject: Subject,
  context: RuleContext,
  endpoint: Endpoint,
  tenant: string,
): Violation | undefined {
  const { object, id, node } = subject
  const { path, address, secret } = endpoint
  const who = objectPart(id.kind, id.namespace, id.name)
  const place = secret === undefined ? '' : message` in Secret ${quoted('object', secret)}`
  if (address === 'sealed') {
    const problem = message`${who} takes an address from the encrypted Secret ${quoted('object', secret ?? '')}, which overrides the one in the object. Its target is unknown. Allowed: an address in the object.`
    const fix = message`Move the address to the object, and keep only credentials in the Secret.`
    return { node, object, path, value: `${secret} sealed`, message: problem, fix, level: 'warning' }
  }
  const found = hostOf(address.text)
  const isFlagger = FLAGGER_KINDS.includes(subject.kind)
  const to = found && insideOf(context.index, node.cluster, tenant, found.host, found.isUrl || endpoint.isHost === true)
  // load testers and Prometheus are shared: cross-namespace-network-ref speaks of Services of other tenants
  const inside = isFlagger && isShareable(to) ? undefined : to?.what
  if (!found || inside === undefined || isListed(context, tenant, address.text)) return undefined
  return {
    node,
    object,
    path,
    value: secret === undefined ? found.host : `${secret} ${found.host}`,
    message: message`${who} names the address ${quoted('value', found.host)}${place}, which is ${untyped(inside)}. Allowed: addresses outside the cluster. ${isFlagger ? 'Flagger' : "Flux's controller"} would connect to it from inside the cluster.`,
    fix: message`Set an address outside the cluster, or ask a fleet admin to list this one in allowedSources.`,
  }
}

function isListed({ config }: RuleContext, tenant: string, text: string): boolean {
  const address = readAddress(text, text.includes('://') ? 'url' : 'endpoint')
  if (typeof address === 'string' || allowedSourcesOf(config, tenant).length === 0) return false
  return allowsSource(config, tenant, address.text)
}
