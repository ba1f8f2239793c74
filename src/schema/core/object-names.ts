import type { FormName } from './texts.ts'

const SEGMENT: FormName = 'path-segment'

/** Forms of names where they are not DNS subdomains, by `<apiVersion> <kind>`: Validate*Name of k8s.io/kubernetes, pkg/apis. */
const NAMES: Readonly<Record<string, FormName>> = {
  'v1 Namespace': 'label',
  'apps/v1 StatefulSet': 'label',
  'rbac.authorization.k8s.io/v1 Role': SEGMENT,
  'rbac.authorization.k8s.io/v1 ClusterRole': SEGMENT,
  'rbac.authorization.k8s.io/v1 RoleBinding': SEGMENT,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': SEGMENT,
  'policy/v1 PodDisruptionBudget': SEGMENT,
  'apiregistration.k8s.io/v1 APIService': SEGMENT,
  'certificates.k8s.io/v1 CertificateSigningRequest': SEGMENT,
}

/** Names that 1.36 relaxed: before, a Service had to begin with a letter. */
const RELAXED_SERVICE = 36

/** A CronJob's Jobs get eleven characters more. */
const LONGEST_CRON_JOB = 52

/** The form of the name of an object of a kind of Kubernetes itself in a minor version; of other kinds it is a DNS subdomain. */
export function nameForm(apiVersion: string, kind: string, version: number): FormName {
  const key = `${apiVersion} ${kind}`
  if (key === 'v1 Service') return version >= RELAXED_SERVICE ? 'label' : 'service-name'
  return Object.hasOwn(NAMES, key)
    ? NAMES[key]!
    : kind.endsWith('List') || apiVersion.startsWith('internal.')
      ? SEGMENT
      : 'subdomain'
}

/** The most characters of a name, where that is less than its form allows. */
export const longestName = (apiVersion: string, kind: string): number =>
  apiVersion === 'batch/v1' && kind === 'CronJob' ? LONGEST_CRON_JOB : Infinity
