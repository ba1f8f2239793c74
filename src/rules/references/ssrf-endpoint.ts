import { shown, shownObject } from '../../facts/shown.ts'
import { sourceKinds } from '../../facts/source-fields.ts'
import type { Subject } from '../../facts/subject.ts'
import { allowedSourcesOf, allowsSource } from '../../fleet/config/allowed-sources.ts'
import { readAddress } from '../../kube/address/source-address.ts'
import type { Breach, Rule, RuleContext } from '../model/rule.ts'
import { type Endpoint, endpointsOf, hostOf, PROVIDER } from './support/endpoints.ts'
import { insideOf } from './support/inside-of.ts'

/** Flux's controllers connect for a tenant only to what lies outside of the cluster. */
export const ssrfEndpoint: Rule = {
  id: 'ssrf-endpoint',
  severity: 'high',
  title: "Tenants do not send Flux's controllers into the cluster",
  why: "Flux's controllers stand where a tenant does not: behind the network policies, beside the API server and the metadata service of the cloud. An address of a tenant's that leads there lets the tenant ask what it could not reach, and see the answer in a status or an artifact.",
  source: 'CWE-918; notification-controller api/v1beta3/provider_types.go; kyverno/policies flux/verify-flux-sources',
  docs: "Name addresses outside of the cluster. Services of the tenant's own namespaces are fine. A registry or a receiver inside of the cluster that tenants may use is listed in `allowedSources` of .github/bailiwick.yaml. An address in an encrypted Secret is only a warning: nobody sees it here.",
  kinds: [...sourceKinds, PROVIDER],
  *checkTenantObject(subject, context) {
    for (const endpoint of endpointsOf(subject, context)) {
      const breach = judge(subject, context, endpoint, subject.node.tenant)
      if (breach) yield breach
    }
  },
}

function judge(subject: Subject, context: RuleContext, endpoint: Endpoint, tenant: string): Breach | undefined {
  const { object, id, node } = subject
  const { path, address, secret } = endpoint
  const who = shownObject(id.kind, id.namespace, id.name)
  const place = secret === undefined ? '' : ` in Secret ${shown(secret)}`
  if (address === 'sealed') {
    const message = `${who} takes an address from the encrypted Secret ${shown(secret ?? '')}, which goes before the one that is written; nobody sees here where it leads.`
    const fix = 'Write the address into the object, and keep only credentials in the Secret.'
    return { node, object, path, value: `${secret} sealed`, message, fix, level: 'warning' }
  }
  const found = hostOf(address.text)
  const inside =
    found && insideOf(context.index, node.cluster, tenant, found.host, found.isUrl || endpoint.isHost === true)?.what
  if (!found || inside === undefined || isListed(context, tenant, address.text)) return undefined
  return {
    node,
    object,
    path,
    value: secret === undefined ? found.host : `${secret} ${found.host}`,
    message: `${who} names the address ${shown(found.host)}${place}: that is ${inside}. Flux's controller would connect to it from inside of the cluster.`,
    fix: 'Name an address outside of the cluster, or ask the platform to list this one in allowedSources.',
  }
}

function isListed({ config }: RuleContext, tenant: string, text: string): boolean {
  const address = readAddress(text, text.includes('://') ? 'url' : 'endpoint')
  if (typeof address === 'string' || allowedSourcesOf(config, tenant).length === 0) return false
  return allowsSource(config, tenant, address.text)
}
