import type { ApplySettings } from '../../flux/apply-settings/apply-settings.ts'
import { KUSTOMIZE_GROUP } from '../../flux/kinds.ts'
import { groupOf, type ObjectId } from '../../kube/object.ts'
import { parseExact } from '../exact-json.ts'
import { idOf } from '../id-of.ts'
import { jsonAt } from '../json-at.ts'

/** A node whose health is waited for. */
export interface HealthNode {
  readonly namespace: string
  readonly name: string
  /** As whom its objects are read. */
  readonly user: string
  readonly settings: ApplySettings
  /** JSON text of each of its objects. */
  readonly objects: readonly string[]
}

/**
 * The objects that must become healthy: with `wait` those that were applied, else those that `healthChecks` names, never
 * the Kustomization itself. None: there is nothing to wait for.
 */
export function healthTargets(node: HealthNode, applied: readonly ObjectId[]): ObjectId[] {
  const { wait, healthChecks } = node.settings
  const targets = new Map<string, ObjectId>()
  for (const id of wait ? applied : healthChecks) if (!isItself(node, id)) targets.set(targetKey(id), id)
  return [...targets.values()]
}

/** Versions of a group are views of one object. */
export function targetKey({ apiVersion, kind, namespace, name }: ObjectId): string {
  return `${groupOf(apiVersion)}/${kind}/${namespace}/${name}`
}

/** The controller compares no group. */
function isItself(node: HealthNode, { apiVersion, kind, namespace, name }: ObjectId): boolean {
  if (kind !== 'Kustomization' || groupOf(apiVersion) !== KUSTOMIZE_GROUP) return false
  return name === node.name && namespace === node.namespace
}

/** Jobs that the cluster deletes once they have finished: where one is gone, it has finished. */
export function jobsWithTtl(node: HealthNode): ReadonlySet<string> {
  const jobs = new Set<string>()
  for (const text of node.objects) {
    // most objects are none, and need not be parsed
    if (!text.includes('"ttlSecondsAfterFinished"')) continue
    const object = parseExact(text)
    const id = idOf(object)
    const isJob = id.kind === 'Job' && groupOf(id.apiVersion) === 'batch'
    if (isJob && Number.isInteger(jsonAt(object, 'spec', 'ttlSecondsAfterFinished'))) jobs.add(targetKey(id))
  }
  return jobs
}
