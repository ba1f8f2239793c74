import type { Capabilities, Capability, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

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
