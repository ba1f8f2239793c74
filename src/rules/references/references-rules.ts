import type { Rule } from '../model/rule.ts'
import { celCost } from './cel-cost.ts'
import { crossNamespaceNetworkRef } from './cross-namespace-network-ref.ts'
import { crossNamespaceRef } from './cross-namespace-ref.ts'
import { externalSecretClusterStore } from './external-secret-cluster-store.ts'
import { providerTargetRepo } from './provider-target-repo.ts'
import { receiverUnauthenticated } from './receiver-unauthenticated.ts'
import { receiverWildcard } from './receiver-wildcard.ts'
import { sourceAcl } from './source-acl.ts'
import { ssrfEndpoint } from './ssrf-endpoint.ts'

/** What refers to what. */
export const referencesRules: readonly Rule[] = [
  celCost,
  crossNamespaceNetworkRef,
  crossNamespaceRef,
  externalSecretClusterStore,
  providerTargetRepo,
  receiverUnauthenticated,
  receiverWildcard,
  sourceAcl,
  ssrfEndpoint,
]
