import type { Capabilities, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

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
