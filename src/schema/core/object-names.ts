import type { FormName } from './texts.ts'

const SEGMENT: FormName = 'path-segment'
const RBAC = 'rbac.authorization.k8s.io/v1'

/** Name formats of kinds where they are not DNS subdomains: Validate*Name of k8s.io/kubernetes, pkg/apis. */
const NAMES: ReadonlyMap<string, readonly [apiVersion: string, form: FormName]> = new Map<
  string,
  readonly [string, FormName]
>([
  ['Namespace', ['v1', 'label']],
  ['StatefulSet', ['apps/v1', 'label']],
  ['Role', [RBAC, SEGMENT]],
  ['ClusterRole', [RBAC, SEGMENT]],
  ['RoleBinding', [RBAC, SEGMENT]],
  ['ClusterRoleBinding', [RBAC, SEGMENT]],
  ['PodDisruptionBudget', ['policy/v1', SEGMENT]],
  ['APIService', ['apiregistration.k8s.io/v1', SEGMENT]],
  ['CertificateSigningRequest', ['certificates.k8s.io/v1', SEGMENT]],
])

/** Since 1.36 the name of a Service need not start with a letter. */
const RELAXED_SERVICE = 36

/** A CronJob appends eleven characters to the names of its Jobs. */
const LONGEST_CRON_JOB = 52

/** The name format of a built-in kind in a minor version; other kinds use DNS subdomains. */
export function nameForm(apiVersion: string, kind: string, version: number): FormName {
  if (kind === 'Service' && apiVersion === 'v1') return version >= RELAXED_SERVICE ? 'label' : 'service-name'
  const named = NAMES.get(kind)
  if (named !== undefined && named[0] === apiVersion) return named[1]
  return kind.endsWith('List') || apiVersion.startsWith('internal.') ? SEGMENT : 'subdomain'
}

/** The maximum length of a name, where it is below the limit of its format. */
export const longestName = (apiVersion: string, kind: string): number =>
  apiVersion === 'batch/v1' && kind === 'CronJob' ? LONGEST_CRON_JOB : Infinity
