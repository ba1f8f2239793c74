import { objectPart, quoted } from '../../facts/shown.ts'
import { addressOf, sourceKinds } from '../../facts/source-fields.ts'
import { allowedSourcesOf, matchesSource } from '../../fleet/config/allowed-sources.ts'
import type { FleetConfig } from '../../fleet/model/fleet-config.ts'
import { internalHost } from '../../kube/address/internal-host.ts'
import type { SourceAddress } from '../../kube/address/source-address.ts'
import { at, type Path } from '../../kube/node.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

const INSECURE = ['spec', 'insecure']

/** What a tenant deploys travels encrypted, from whom it claims to be. */
export const sourceInsecureTransport: Rule = {
  id: 'source-insecure-transport',
  severity: 'high',
  title: 'Source without TLS or SSH',
  why: 'With plain HTTP, or without certificate verification, an attacker on the network can change the deployed content. The credentials of the source can be read, too.',
  source: 'fluxcd/flux2 rfcs/0004-insecure-http',
  docs: 'Use `https://`, `ssh://` or `oci://`, and remove `spec.insecure`. Name a private certificate authority with `spec.certSecretRef`. List a cluster-internal registry without TLS in `allowedSources` (as `http://...`, or by its host).',
  kinds: sourceKinds,
  *checkTenantObject({ object, id, kind, node }, { config }) {
    const found = addressOf(kind, object)
    const address = typeof found?.address === 'string' ? undefined : found?.address
    const fields: Path[] = []
    if (found && address?.scheme === 'http') fields.push(found.path)
    const flag = at(object.root, INSECURE)
    if (flag?.type === 'scalar' && (flag.value === true || flag.value === 'true')) fields.push(INSECURE)
    if (fields.length === 0 || (address && isExempt(config, node.tenant, address))) return
    for (const path of fields) {
      const what =
        path === INSECURE ? 'sets spec.insecure' : message`follows ${quoted('repository', address?.text ?? '')}`
      yield {
        node,
        object,
        path,
        value: path === INSECURE ? 'insecure' : (address?.text ?? ''),
        message: message`${objectPart(id.kind, id.namespace, id.name)} ${what}: its content is neither encrypted nor authenticated. Allowed: https, ssh and oci. Flux accepts it.`,
        fix: path === INSECURE ? message`Remove spec.insecure.` : message`Set the address to https.`,
        ...(path === INSECURE ? { edit: { remove: true } as const } : {}),
      }
    }
  },
}

/** A pattern of the fleet's own that says http, or that names this very host inside of the cluster. */
function isExempt(config: FleetConfig, tenant: string, address: SourceAddress): boolean {
  const inside = internalHost(address.host) !== undefined
  return allowedSourcesOf(config, tenant)
    .flat()
    .some(pattern => (inside || /^http:/i.test(pattern)) && matchesSource(pattern, address.text))
}
