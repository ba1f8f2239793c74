import type { Capabilities, Capability, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

const referred: NamingField = { at: 'spec.**.namespace', names: 'service', form: 'sibling' }
const ingress: Capability = {
  scope: 'Namespaced',
  fields: [
    { at: 'spec.rules.*.host', names: 'host' },
    { at: 'spec.tls.*.hosts.*', names: 'host' },
  ],
}

/** Traefik has had two groups. */
function traefik(group: string): Capabilities {
  const of = (...fields: NamingField[]): Capability => ({ scope: 'Namespaced', fields })
  const matched: NamingField = { at: 'spec.routes.*.match', names: 'host', form: 'match' }
  return {
    [`${group}/IngressRoute`]: of(matched, referred),
    [`${group}/IngressRouteTCP`]: of(matched, referred),
    [`${group}/IngressRouteUDP`]: of(referred),
    [`${group}/TraefikService`]: of(referred),
    [`${group}/Middleware`]: of(
      referred,
      { at: 'spec.forwardAuth.address', names: 'service', form: 'url' },
      { at: 'spec.errors.service.namespace', names: 'service', form: 'sibling' },
    ),
    [`${group}/TLSStore`]: of({
      at: 'metadata.name',
      names: 'code',
      where: { '': 'default' },
      says: 'is the default that Traefik serves for every namespace',
    }),
    [`${group}/TLSOption`]: of({
      at: 'metadata.name',
      names: 'code',
      where: { '': 'default' },
      says: 'is the default that Traefik applies to every namespace',
    }),
    [`${group}/MiddlewareTCP`]: of(),
    [`${group}/ServersTransport`]: of(),
    [`${group}/ServersTransportTCP`]: of(),
  }
}

const lua = 'runs a program in the proxy that all tenants share'
const kongPrograms = ['pre-function', 'post-function', 'serverless-functions'].map(
  (plugin): NamingField => ({ at: 'plugin', names: 'code', where: { '': plugin }, says: lua }),
)

/** Ingress and the routes of proxies that have kinds of their own (their config/crd or chart). */
export const ingresses: Capabilities = {
  'networking.k8s.io/Ingress': ingress,
  'extensions/Ingress': ingress,
  ...traefik('traefik.io'),
  ...traefik('traefik.containo.us'),
  'configuration.konghq.com/KongPlugin': {
    scope: 'Namespaced',
    fields: [
      ...kongPrograms,
      { at: 'config.**.http_endpoint', names: 'service', form: 'url' },
      { at: 'config.**.host', names: 'service', form: 'host' },
    ],
  },
  'configuration.konghq.com/TCPIngress': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.rules.*.host', names: 'host' },
      { at: 'spec.tls.*.hosts.*', names: 'host' },
    ],
  },
  'configuration.konghq.com/KongIngress': {
    scope: 'Namespaced',
    fields: [{ at: 'route.hosts.*', names: 'host' }],
  },
  'configuration.konghq.com/KongCustomEntity': {
    scope: 'Namespaced',
    fields: [{ at: 'spec', names: 'code', says: 'writes entities of Kong itself' }],
  },
  'projectcontour.io/HTTPProxy': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.virtualhost.fqdn', names: 'host' },
      { at: 'spec.**.tls.secretName', names: 'secret', form: 'path' },
      { at: 'spec.includes.*.namespace', names: 'service', form: 'sibling' },
      { at: 'spec.tcpproxy.**.namespace', names: 'service', form: 'sibling' },
      { at: 'spec.**.extensionRef.namespace', names: 'service', form: 'sibling', shared: true },
    ],
  },
  'route.openshift.io/Route': { scope: 'Namespaced', fields: [{ at: 'spec.host', names: 'host' }] },
  'k8s.nginx.org/VirtualServer': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.host', names: 'host' },
      { at: 'spec.routes.*.route', names: 'service', form: 'path' },
      { at: 'spec.**.policies.*.namespace', names: 'object', form: 'sibling', shared: true },
    ],
  },
  'k8s.nginx.org/VirtualServerRoute': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.host', names: 'host' },
      { at: 'spec.**.policies.*.namespace', names: 'object', form: 'sibling', shared: true },
    ],
  },
  'k8s.nginx.org/TransportServer': { scope: 'Namespaced', fields: [{ at: 'spec.host', names: 'host' }] },
  'externaldns.k8s.io/DNSEndpoint': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.endpoints.*.dnsName', names: 'host' }],
  },
  ...withoutFields(
    'configuration.konghq.com/UDPIngress configuration.konghq.com/KongUpstreamPolicy configuration.konghq.com/KongConsumer configuration.konghq.com/KongConsumerGroup configuration.konghq.com/IngressClassParameters projectcontour.io/TLSCertificateDelegation projectcontour.io/ExtensionService k8s.nginx.org/Policy',
  ),
}
