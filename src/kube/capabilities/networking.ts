import { type Capabilities, type Capability, type NamingField, withoutFields } from './capability.ts'

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

const parents: readonly NamingField[] = [
  { at: 'spec.parentRefs.*.namespace', names: 'service', form: 'sibling', shared: true },
]
/** Backends stand in rules, in their filters and in filters of their backends. */
const backends: NamingField = { at: 'spec.rules.**.namespace', names: 'service', form: 'sibling' }
const route: Capability = {
  scope: 'Namespaced',
  fields: [{ at: 'spec.hostnames.*', names: 'host' }, ...parents, backends],
}
const routeWithoutHosts: Capability = { scope: 'Namespaced', fields: [...parents, backends] }
const certificates: NamingField = { at: 'spec.listeners.*.tls.**.namespace', names: 'secret', form: 'sibling' }
const listeners: readonly NamingField[] = [{ at: 'spec.listeners.*.hostname', names: 'host' }, certificates]
const listenerSet: Capability = {
  scope: 'Namespaced',
  fields: [...listeners, { at: 'spec.parentRef.namespace', names: 'service', form: 'sibling', shared: true }],
}

/** Gateway API (config/crd/experimental) and Envoy Gateway (charts/gateway-helm/crds). */
export const gateways: Capabilities = {
  'gateway.networking.k8s.io/HTTPRoute': route,
  'gateway.networking.k8s.io/GRPCRoute': route,
  'gateway.networking.k8s.io/TLSRoute': route,
  'gateway.networking.k8s.io/TCPRoute': routeWithoutHosts,
  'gateway.networking.k8s.io/UDPRoute': routeWithoutHosts,
  'gateway.networking.k8s.io/Gateway': {
    scope: 'Namespaced',
    fields: [...listeners, { at: 'spec.tls.**.namespace', names: 'secret', form: 'sibling' }],
  },
  'gateway.networking.k8s.io/ListenerSet': listenerSet,
  'gateway.networking.x-k8s.io/XListenerSet': listenerSet,
  'gateway.envoyproxy.io/Backend': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.endpoints.*.fqdn.hostname', names: 'service', form: 'host' },
      { at: 'spec.endpoints.*.ip.address', names: 'service', form: 'host' },
      { at: 'spec.endpoints.*.unix.path', names: 'hostPath', says: 'connects to a socket of the proxy' },
    ],
  },
  'gateway.envoyproxy.io/SecurityPolicy': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.extAuth.**.namespace', names: 'service', form: 'sibling' },
      { at: 'spec.oidc.clientSecret.namespace', names: 'secret', form: 'sibling' },
      { at: 'spec.oidc.clientIDRef.namespace', names: 'secret', form: 'sibling' },
      { at: 'spec.oidc.provider.**.namespace', names: 'service', form: 'sibling' },
      { at: 'spec.basicAuth.users.namespace', names: 'secret', form: 'sibling' },
      { at: 'spec.apiKeyAuth.credentialRefs.*.namespace', names: 'secret', form: 'sibling' },
      { at: 'spec.jwt.**.uri', names: 'service', form: 'url' },
    ],
  },
  'gateway.envoyproxy.io/EnvoyExtensionPolicy': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.extProc.**.namespace', names: 'service', form: 'sibling' },
      { at: 'spec.lua', names: 'code', says: 'runs a program in the proxy that all tenants share' },
      { at: 'spec.wasm', names: 'code', says: 'loads a program into the proxy that all tenants share' },
      { at: 'spec.dynamicModule', names: 'code', says: 'loads a program into the proxy that all tenants share' },
    ],
  },
  'gateway.envoyproxy.io/EnvoyPatchPolicy': {
    scope: 'Namespaced',
    fields: [
      {
        at: 'spec.jsonPatches',
        names: 'code',
        says: 'changes the configuration of Envoy itself, that of other routes too',
      },
    ],
  },
  'gateway.envoyproxy.io/ClientTrafficPolicy': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.tls.**.namespace', names: 'secret', form: 'sibling' }],
  },
  'gateway.envoyproxy.io/BackendTrafficPolicy': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.**.namespace', names: 'object', form: 'sibling' }],
  },
  'gateway.envoyproxy.io/HTTPRouteFilter': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.**.namespace', names: 'object', form: 'sibling' }],
  },
  'gateway.envoyproxy.io/EnvoyProxy': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.backendTLS.**.namespace', names: 'secret', form: 'sibling' }],
  },
  ...withoutFields(
    'gateway.networking.k8s.io/BackendTLSPolicy gateway.networking.k8s.io/BackendLBPolicy gateway.networking.k8s.io/ReferenceGrant gateway.networking.x-k8s.io/XBackendTrafficPolicy',
  ),
}

const service = (at: string): NamingField => ({ at, names: 'service', form: 'host' })

/**
 * Istio (manifests/charts/base/files/crd-all.gen.yaml). What is exported applies to clients in every namespace, and is
 * exported to all of them unless `exportTo` says otherwise.
 */
export const istio: Capabilities = {
  'networking.istio.io/VirtualService': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.hosts.*', names: 'host' },
      service('spec.hosts.*'),
      service('spec.**.host'),
      { at: 'spec.**.delegate.namespace', names: 'service', form: 'sibling' },
      { at: 'spec.gateways.*', names: 'service', form: 'path', shared: true },
      { at: 'spec.gateways.*', names: 'service', form: 'host', shared: true },
    ],
  },
  'networking.istio.io/DestinationRule': { scope: 'Namespaced', fields: [service('spec.**.host')] },
  'networking.istio.io/Gateway': { scope: 'Namespaced', fields: [{ at: 'spec.servers.*.hosts.*', names: 'host' }] },
  'networking.istio.io/ServiceEntry': {
    scope: 'Namespaced',
    fields: [service('spec.hosts.*'), service('spec.endpoints.*.address'), service('spec.addresses.*')],
  },
  'networking.istio.io/WorkloadEntry': { scope: 'Namespaced', fields: [service('spec.address')] },
  'networking.istio.io/Sidecar': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.egress.*.hosts.*', names: 'service', form: 'path', shared: true }],
  },
  'networking.istio.io/EnvoyFilter': {
    scope: 'Namespaced',
    fields: [
      {
        at: 'spec.configPatches',
        names: 'code',
        level: 'warning',
        says: 'writes the configuration of Envoy itself, which bypasses every check of Istio',
      },
    ],
  },
  'extensions.istio.io/WasmPlugin': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.url', names: 'code', level: 'warning', says: 'loads a program into proxies' }],
  },
  'security.istio.io/RequestAuthentication': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.jwtRules.*.jwksUri', names: 'service', form: 'url' }],
  },
  ...withoutFields(
    'networking.istio.io/ProxyConfig networking.istio.io/WorkloadGroup security.istio.io/AuthorizationPolicy security.istio.io/PeerAuthentication telemetry.istio.io/Telemetry',
  ),
}

const meshReference = (at: string, more: Partial<NamingField> = {}): NamingField => ({
  at,
  names: 'service',
  form: 'sibling',
  ...more,
})

/** Cilium (pkg/k8s/apis/cilium.io), Calico, Linkerd (charts/linkerd-crds) and MetalLB. */
export const serviceMeshes: Capabilities = {
  'cilium.io/CiliumEnvoyConfig': {
    scope: 'Namespaced',
    fields: [
      meshReference('spec.services.*.namespace'),
      meshReference('spec.backendServices.*.namespace'),
      {
        at: 'spec.resources',
        names: 'code',
        says: 'writes configuration of the Envoy of each node, which serves every namespace',
      },
    ],
  },
  'cilium.io/CiliumLocalRedirectPolicy': {
    scope: 'Namespaced',
    fields: [
      meshReference('spec.redirectFrontend.serviceMatcher.namespace'),
      {
        at: 'spec.redirectFrontend.addressMatcher',
        names: 'privilege',
        says: 'redirects the traffic that pods of every tenant send to an address',
      },
    ],
  },
  'cilium.io/CiliumNodeConfig': {
    scope: 'Namespaced',
    fields: [{ at: 'spec', names: 'privilege', says: 'configures the agents of nodes' }],
  },
  'policy.linkerd.io/HTTPRoute': { scope: 'Namespaced', fields: [meshReference('spec.**.namespace')] },
  'linkerd.io/ServiceProfile': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.dstOverrides.*.authority', names: 'service', form: 'host' }],
  },
  'multicluster.linkerd.io/Link': {
    scope: 'Namespaced',
    fields: [{ at: 'spec', names: 'privilege', says: 'mirrors the services of another cluster into this one' }],
  },
  'metallb.io/IPAddressPool': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.serviceAllocation.namespaces.*', names: 'namespace' }],
  },
  ...withoutFields(
    [
      'cilium.io/CiliumNetworkPolicy cilium.io/CiliumEndpoint cilium.io/CiliumGatewayClassConfig',
      'crd.projectcalico.org/NetworkPolicy crd.projectcalico.org/NetworkSet crd.projectcalico.org/StagedNetworkPolicy crd.projectcalico.org/StagedKubernetesNetworkPolicy',
      'projectcalico.org/NetworkPolicy projectcalico.org/NetworkSet projectcalico.org/StagedNetworkPolicy projectcalico.org/StagedKubernetesNetworkPolicy',
      'policy.linkerd.io/AuthorizationPolicy policy.linkerd.io/EgressNetwork policy.linkerd.io/HTTPLocalRateLimitPolicy policy.linkerd.io/MeshTLSAuthentication policy.linkerd.io/NetworkAuthentication policy.linkerd.io/Server policy.linkerd.io/ServerAuthorization workload.linkerd.io/ExternalWorkload',
      'metallb.io/BFDProfile metallb.io/BGPAdvertisement metallb.io/BGPPeer metallb.io/Community metallb.io/L2Advertisement',
    ].join(' '),
  ),
}
