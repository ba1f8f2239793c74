import { groupOf, type ObjectId } from '../kube/object.ts'

/** Flux's order (fluxcd/pkg ssa/utils/sort.go): what others need comes first, by kind, whatever the group. */
const FIRST = [
  'CustomResourceDefinition',
  'Namespace',
  'ClusterRole',
  'ClusterClass',
  'RuntimeClass',
  'PriorityClass',
  'StorageClass',
  'VolumeSnapshotClass',
  'IngressClass',
  'GatewayClass',
  'ClusterRoleBinding',
  'ResourceQuota',
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'ConfigMap',
  'Secret',
  'Service',
  'LimitRange',
  'Deployment',
  'StatefulSet',
  'CronJob',
  'PodDisruptionBudget',
]
const LAST = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']
const STAGE_ONE: ReadonlyMap<string, string> = new Map([
  ['CustomResourceDefinition', 'apiextensions.k8s.io'],
  ['Namespace', ''],
  ['ClusterRole', 'rbac.authorization.k8s.io'],
])

/** Objects that may be applied side by side; the next wave starts when this one is done. */
interface Wave<T> {
  /** 1: definitions and namespaces, which must be ready before stage 2 (classes) and 3 (the rest) begin. */
  readonly stage: Stage
  readonly items: readonly T[]
}

type Stage = 1 | 2 | 3

/** Sorts into waves: by stage, then by Flux's order of kinds; within a wave by group, kind, namespace and name. */
export function waves<T extends { readonly id: ObjectId }>(items: readonly T[]): Wave<T>[] {
  const sorted = [...items].sort((a, b) => compareIds(a.id, b.id))
  const found: { stage: Stage; rank: number; items: T[] }[] = []
  for (const item of sorted) {
    const [stage, rank] = [stageOf(item.id), rankOf(item.id.kind)]
    const last = found.at(-1)
    if (last && last.stage === stage && last.rank === rank) last.items.push(item)
    else found.push({ stage, rank, items: [item] })
  }
  return found
}

/** Negative when `a` is applied before `b`. Total, so that the order never depends on the input's. */
export function compareIds(a: ObjectId, b: ObjectId): number {
  return (
    stageOf(a) - stageOf(b) ||
    rankOf(a.kind) - rankOf(b.kind) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.kind, b.kind) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  )
}

/** By group too: a custom kind that is called Namespace comes after its definition. */
function stageOf({ apiVersion, kind }: ObjectId): Stage {
  if (STAGE_ONE.get(kind) === groupOf(apiVersion)) return 1
  return kind.endsWith('Class') ? 2 : 3
}

function rankOf(kind: string): number {
  const first = FIRST.indexOf(kind)
  if (first >= 0) return first
  return FIRST.length + 1 + LAST.indexOf(kind)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
