import type { Capabilities, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

const referred = (at: string, more: Partial<NamingField> = {}): NamingField => ({
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
      referred('spec.services.*.namespace'),
      referred('spec.backendServices.*.namespace'),
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
      referred('spec.redirectFrontend.serviceMatcher.namespace'),
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
  'policy.linkerd.io/HTTPRoute': { scope: 'Namespaced', fields: [referred('spec.**.namespace')] },
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
