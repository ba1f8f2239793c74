/** What of an annotation or label gives an account or pod an identity in a cloud, by prefix, and what of it does not. */
const PREFIXES: readonly (readonly [prefix: string, cloud: string])[] = [
  ['eks.amazonaws.com/', 'AWS'],
  ['iam.amazonaws.com/', 'AWS (kiam, kube2iam)'],
  ['iam.gke.io/', 'Google Cloud'],
  ['azure.workload.identity/', 'Azure'],
  ['pod-identity.alibabacloud.com/', 'Alibaba Cloud'],
  ['tke.cloud.tencent.com/', 'Tencent Cloud'],
  ['gcp.auth.fluxcd.io/', 'Google Cloud, for Flux'],
  ['aws.auth.fluxcd.io/', 'AWS, for Flux'],
  ['azure.auth.fluxcd.io/', 'Azure, for Flux'],
  ['auth.fluxcd.io/', 'a registry, for Flux'],
]

/** How tokens are handed over, not whose they are. */
const HARMLESS = new Set([
  'eks.amazonaws.com/token-expiration',
  'eks.amazonaws.com/sts-regional-endpoints',
  'eks.amazonaws.com/skip-containers',
  'eks.amazonaws.com/compute-type',
  'eks.amazonaws.com/nodegroup',
  'eks.amazonaws.com/fargate-profile',
  'azure.workload.identity/service-account-token-expiration',
  'azure.workload.identity/skip-containers',
  'azure.workload.identity/inject-proxy-sidecar',
  'azure.workload.identity/proxy-sidecar-port',
  'pod-identity.alibabacloud.com/service-account-token-expiration',
  'tke.cloud.tencent.com/token-expiration',
])

/** The cloud in which an annotation or label of this name gives an identity; undefined where it does not. */
export function cloudOf(name: string): string | undefined {
  if (HARMLESS.has(name)) return undefined
  if (name === 'aadpodidbinding') return 'Azure (pod identity)'
  return PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1]
}

/** The label by which a pod asks for the identity of its account; the account decides whose that is. */
export const AZURE_USE = 'azure.workload.identity/use'
