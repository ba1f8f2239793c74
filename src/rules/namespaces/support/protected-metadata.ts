import { TENANT_LABEL_KEY } from '../../../flux/kinds.ts'

/** Labels and annotations of a Namespace that admission, scheduling, networks or clouds obey; a `*` ends a prefix. */
const PROTECTED: readonly string[] = [
  // Kubernetes: PodNodeSelector, PodTolerationRestriction, network policy of old
  'scheduler.alpha.kubernetes.io/*',
  'scheduler.kubernetes.io/*',
  'net.beta.kubernetes.io/*',
  'quota.openshift.io/*',
  'openshift.io/*',
  'security.openshift.io/*',
  'k8s.ovn.org/*',
  'cni.projectcalico.org/*',
  'projectcalico.org/*',
  'field.cattle.io/*',
  // what switches policies and meshes off
  'admission.gatekeeper.sh/ignore',
  'policies.kyverno.io/*',
  'kyverno.io/*',
  'webhooks.kyverno.io/*',
  'policy.sigstore.dev/*',
  'cert-manager.io/disable-validation',
  'config.linkerd.io/admission-webhooks',
  'control-plane',
  // cloud identities and projects
  'iam.amazonaws.com/*',
  'cnrm.cloud.google.com/*',
  // Capsule's own notes
  'capsule.clastix.io/*',
  'projectcapsule.dev/*',
]

/** What takes a namespace out of its mesh; whoever wants to be in it may be. */
const OUT_OF_MESH: ReadonlyMap<string, readonly string[]> = new Map([
  ['istio-injection', ['disabled']],
  ['istio.io/dataplane-mode', ['none']],
  ['linkerd.io/inject', ['disabled']],
])

/** Which tenant a Namespace belongs to is the rule namespace-ownership's. */
export const TENANT_KEYS: readonly string[] = [
  TENANT_LABEL_KEY,
  'capsule.clastix.io/tenant',
  'projectcapsule.dev/tenant',
]

/** Pod Security Admission. */
export const POD_SECURITY = 'pod-security.kubernetes.io/'

const exact = new Set(PROTECTED.filter(key => !key.endsWith('*')))
const prefixes = PROTECTED.filter(key => key.endsWith('*')).map(key => key.slice(0, -1))

/** Whether a label or annotation of a Namespace is the platform's to set; those of Pod Security are evaluated by value. */
export function isProtected(key: string, value: string): boolean {
  if (TENANT_KEYS.includes(key)) return false
  if (OUT_OF_MESH.get(key)?.includes(value)) return true
  return exact.has(key) || prefixes.some(prefix => key.startsWith(prefix))
}
