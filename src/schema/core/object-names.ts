import type { FormName } from './texts.ts'

const SEGMENT: FormName = 'path-segment'

/** Name formats by `<apiVersion> <kind>` where they are not DNS subdomains: Validate*Name of k8s.io/kubernetes, pkg/apis. */
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

/** Since 1.36 the name of a Service need not start with a letter. */
const RELAXED_SERVICE = 36

/** A CronJob appends eleven characters to the names of its Jobs. */
const LONGEST_CRON_JOB = 52

/** The name format of a built-in kind in a minor version; other kinds use DNS subdomains. */
export function nameForm(apiVersion: string, kind: string, version: number): FormName {
  const key = `${apiVersion} ${kind}`
  if (key === 'v1 Service') return version >= RELAXED_SERVICE ? 'label' : 'service-name'
  return Object.hasOwn(NAMES, key)
    ? NAMES[key]!
    : kind.endsWith('List') || apiVersion.startsWith('internal.')
      ? SEGMENT
      : 'subdomain'
}

/** The maximum length of a name, where it is below the limit of its format. */
export const longestName = (apiVersion: string, kind: string): number =>
  apiVersion === 'batch/v1' && kind === 'CronJob' ? LONGEST_CRON_JOB : Infinity
