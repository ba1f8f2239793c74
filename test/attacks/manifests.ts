import { stringify } from 'yaml'

/** The kinds that a case may name without their apiVersion. */
const KINDS: Readonly<Record<string, string>> = {
  v1: 'ConfigMap LimitRange Namespace PersistentVolumeClaim Pod ResourceQuota Secret Service ServiceAccount',
  'admissionregistration.k8s.io/v1': 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding',
  'apiextensions.k8s.io/v1': 'CustomResourceDefinition',
  'apps/v1': 'DaemonSet Deployment StatefulSet',
  'batch/v1': 'CronJob Job',
  'capsule.clastix.io/v1beta1': 'GlobalProxySettings ProxySetting',
  'capsule.clastix.io/v1beta2': 'CapsuleConfiguration GlobalTenantResource Tenant TenantOwner TenantResource',
  'external-secrets.io/v1': 'ClusterSecretStore ExternalSecret SecretStore',
  'fluxcd.controlplane.io/v1': 'FluxInstance ResourceSet ResourceSetInputProvider',
  'gateway.networking.k8s.io/v1': 'Gateway HTTPRoute',
  'helm.toolkit.fluxcd.io/v2': 'HelmRelease',
  'image.toolkit.fluxcd.io/v1': 'ImagePolicy ImageRepository ImageUpdateAutomation',
  'kustomize.toolkit.fluxcd.io/v1': 'Kustomization',
  'kyverno.io/v1': 'ClusterPolicy Policy',
  'kyverno.io/v2': 'PolicyException',
  'networking.k8s.io/v1': 'Ingress NetworkPolicy',
  'notification.toolkit.fluxcd.io/v1': 'Receiver',
  'notification.toolkit.fluxcd.io/v1beta3': 'Alert Provider',
  'rbac.authorization.k8s.io/v1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'source.extensions.fluxcd.io/v1beta1': 'ArtifactGenerator',
  'source.toolkit.fluxcd.io/v1': 'Bucket GitRepository HelmChart HelmRepository OCIRepository',
}

const VERSIONS = new Map(
  Object.entries(KINDS).flatMap(([version, kinds]) => kinds.split(' ').map(kind => [kind, version] as const)),
)

const NAMED = /^(?<kind>[A-Z]\w+) (?:(?<namespace>[^\s/]+)\/)?(?<name>[^\s/]+)$/

type Fields = Readonly<Record<string, unknown>>

/** The text of one document or several: in block style, so that every field has a line of its own. */
export function writeManifests(given: object): string {
  const documents = [given as Fields | readonly Fields[]]
    .flat()
    .flatMap(one => (Object.keys(one).every(key => NAMED.test(key)) ? named(one) : [one]))
  // what readers of YAML 1.1 take for a boolean or a number is quoted
  return documents.map(one => stringify(one, { version: '1.1', lineWidth: 0 })).join('---\n')
}

/** `ConfigMap apps/a: {data: ...}` is that object; `metadata` has what it carries besides. */
function named(documents: Fields): Fields[] {
  return Object.entries(documents as Readonly<Record<string, Fields>>).map(([title, { metadata = {}, ...rest }]) => {
    const { kind, namespace, name } = NAMED.exec(title)!.groups!
    const apiVersion = VERSIONS.get(kind!)
    if (!apiVersion) throw new Error(`${title}: the kind is not in test/attacks/manifests.ts; write its apiVersion`)
    return {
      apiVersion,
      kind,
      metadata: { name, ...(namespace ? { namespace } : {}), ...(metadata as Fields) },
      ...rest,
    }
  })
}
