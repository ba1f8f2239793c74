/** The minor version that deprecated an API version that is still served, and the first one that does not serve it. */
interface Deprecation {
  readonly since: number
  readonly removed: number
}

/** API versions with the minor versions that deprecated and removed them (k8s.io/api, zz_generated.prerelease-lifecycle.go). */
const DEPRECATED: readonly (readonly [apiVersion: string, kinds: string, since: number, removed: number])[] = [
  ['flowcontrol.apiserver.k8s.io/v1beta3', 'FlowSchema PriorityLevelConfiguration', 29, 32],
  ['admissionregistration.k8s.io/v1alpha1', 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding', 29, 32],
  ['admissionregistration.k8s.io/v1beta1', 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding', 31, 34],
  ['admissionregistration.k8s.io/v1alpha1', 'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding', 35, 38],
  ['admissionregistration.k8s.io/v1beta1', 'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding', 37, 40],
  ['certificates.k8s.io/v1alpha1', 'ClusterTrustBundle', 34, 37],
  ['certificates.k8s.io/v1beta1', 'ClusterTrustBundle PodCertificateRequest', 37, 40],
  ['coordination.k8s.io/v1alpha2', 'LeaseCandidate', 35, 38],
  ['coordination.k8s.io/v1beta1', 'LeaseCandidate', 36, 39],
  ['networking.k8s.io/v1beta1', 'IPAddress ServiceCIDR', 34, 37],
  ['resource.k8s.io/v1alpha3', 'DeviceTaintRule', 36, 39],
  ['resource.k8s.io/v1beta1', 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice', 35, 38],
  ['resource.k8s.io/v1beta2', 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice', 36, 39],
  ['storage.k8s.io/v1alpha1', 'VolumeAttributesClass', 32, 35],
  ['storage.k8s.io/v1beta1', 'VolumeAttributesClass', 34, 37],
  ['storagemigration.k8s.io/v1beta1', 'StorageVersionMigration', 37, 40],
]

/** By API version and kind. */
const BY_VERSION: ReadonlyMap<string, ReadonlyMap<string, Deprecation>> = byVersion()

function byVersion(): Map<string, Map<string, Deprecation>> {
  const made = new Map<string, Map<string, Deprecation>>()
  for (const [apiVersion, kinds, since, removed] of DEPRECATED) {
    const known = made.get(apiVersion) ?? new Map<string, Deprecation>()
    for (const kind of kinds.split(' ')) known.set(kind, { since, removed })
    made.set(apiVersion, known)
  }
  return made
}

/** The deprecation of an API version in a minor version of Kubernetes that serves it; undefined if it is not deprecated. */
export function deprecationOf(apiVersion: string, kind: string, version: number): Deprecation | undefined {
  const row = BY_VERSION.get(apiVersion)?.get(kind)
  return row && row.since <= version ? row : undefined
}
