export const FIRST_KINDS: readonly string[] = (
  'Namespace ResourceQuota StorageClass CustomResourceDefinition ServiceAccount PodSecurityPolicy Role ClusterRole ' +
  'RoleBinding ClusterRoleBinding ConfigMap Secret Endpoints Service LimitRange PriorityClass PersistentVolume ' +
  'PersistentVolumeClaim Deployment StatefulSet CronJob PodDisruptionBudget'
).split(' ')
export const LAST_KINDS: readonly string[] = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

const PLACES: ReadonlyMap<string, number> = new Map([
  ...FIRST_KINDS.map((kind, index) => [kind, index - FIRST_KINDS.length] as const),
  ...LAST_KINDS.map((kind, index) => [kind, index + 1] as const),
])

interface Kind {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
}

/** The order in which kustomize sorts kinds: what others refer to first (kyaml/resid/gvk.go, 5.8.1). */
export function compareKinds(a: Kind, b: Kind): number {
  const difference = (PLACES.get(a.kind ?? '') ?? 0) - (PLACES.get(b.kind ?? '') ?? 0)
  if (difference !== 0) return difference
  return compareBytes(sortText(a), sortText(b))
}

/** Go compares the bytes of UTF-8; JavaScript's own order differs for rare letters only. */
function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  return /^[\0-\ud7ff]*$/.test(a + b) ? (a < b ? -1 : 1) : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function sortText({ group, version, kind }: Kind): string {
  return `${group || '~G'}_${version || '~V'}_${kind || '~K'}`
}
