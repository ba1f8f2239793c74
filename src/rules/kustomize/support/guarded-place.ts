import type { Path } from '../../../kube/node.ts'

const ACCOUNT = new Set(['serviceAccountName', 'serviceAccount', 'targetNamespace', 'storageNamespace'])
const REFERENCE = new Set(['sourceRef', 'chartRef', 'kubeConfig'])
const GRANT = new Set(['roleRef', 'subjects', 'rules'])
const SECURITY = new Set(
  (
    'privileged allowPrivilegeEscalation hostNetwork hostPID hostIPC hostUsers hostPath hostPort runAsUser runAsGroup ' +
    'runAsNonRoot procMount capabilities shareProcessNamespace automountServiceAccountToken'
  ).split(' '),
)
const STRUCTURE = new Set(
  'metadata spec template jobTemplate containers initContainers securityContext labels annotations'.split(' '),
)

/** Values of a chart mean what the chart makes of them. */
const isOfChart = (path: Path) => path[0] === 'spec' && path[1] === 'values'

/** Whether a field says what an object is, where it goes, who applies it or what it grants. */
export function isIdentity(group: string, path: Path): boolean {
  const [first, second] = path
  if (isOfChart(path)) return false
  if (path.length === 1 && (first === 'apiVersion' || first === 'kind')) return true
  if (path.length === 2 && first === 'metadata' && second === 'namespace') return true
  if (group === 'rbac.authorization.k8s.io' && typeof first === 'string' && GRANT.has(first)) return true
  if (first !== 'spec' && first !== 'template') return false
  return ACCOUNT.has(String(path.at(-1))) || path.some(step => typeof step === 'string' && REFERENCE.has(step))
}

/** Whether a field lets a pod out of its sandbox. */
export function isSecurity(path: Path): boolean {
  if (isOfChart(path) || path[0] === 'data' || path[0] === 'stringData') return false
  return path.some(step => typeof step === 'string' && SECURITY.has(step))
}

/** Whether a map or a list here decides about more than one field. */
export function isStructure(path: Path): boolean {
  const last = path.at(-1)
  return path.length === 0 || (typeof last === 'string' && STRUCTURE.has(last) && !isOfChart(path))
}
