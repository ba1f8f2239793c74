import type { Capabilities } from './capability.ts'

/** Istio, from manifests/charts/base/files/crd-all.gen.yaml. */
export const istio: Capabilities = {
  'networking.istio.io/DestinationRule': {
    scope: 'Namespaced',
    fields: [{ at: 'spec.host', names: 'service', form: 'host' }],
  },
  'networking.istio.io/VirtualService': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.hosts.*', names: 'host' },
      { at: 'spec.hosts.*', names: 'service', form: 'host' },
      { at: 'spec.**.destination.host', names: 'service', form: 'host' },
      { at: 'spec.http.*.mirror.host', names: 'service', form: 'host' },
      { at: 'spec.http.*.delegate', names: 'object', form: 'reference' },
      { at: 'spec.gateways.*', names: 'gateway', form: 'path' },
    ],
  },
}
