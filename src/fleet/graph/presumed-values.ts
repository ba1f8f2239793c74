import { canonical } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Draft } from './draft.ts'
import { needsOf } from './node-values.ts'
import { valueId } from './value-index.ts'
import type { Walk } from './walk.ts'

/** How often a cluster is walked for values that are rendered from themselves. */
export const PRESUMED_ROUNDS = 3

/**
 * What the platform substitutes from and renders only by that itself: a cluster whose settings were applied by hand once
 * has them, and gets from each revision those of the next. The objects that the next walk starts with; undefined where
 * another walk would show nothing else.
 */
export function presumedValues(walk: Walk, before: readonly KubeObject[]): readonly KubeObject[] | undefined {
  if (!walk.values.allowsUndeclared) return undefined
  const wanted = wantedOf(walk)
  if (wanted.size === 0) return undefined
  const found = [...walk.drafts.values()].filter(isPlatform).flatMap(({ objects }) => objects.filter(isIn(wanted)))
  return described(found) === described(before) ? undefined : found
}

/** What nothing gave in time, and what was presumed. */
function wantedOf({ drafts, missed, values }: Walk): ReadonlySet<string> {
  const ids = [...drafts.values()].filter(isPlatform).flatMap(({ key, kustomization }) => {
    const absent = missed.get(key)
    return needsOf(kustomization).flatMap(({ id }) => (absent?.has(id) || values.isPresumed(id) ? [id] : []))
  })
  return new Set(ids.filter(id => values.has(id)))
}

/** A remote cluster has values of its own, and a tenant's are no settings of the platform. */
const isPlatform = ({ tenant, hub }: Draft) => tenant === undefined && hub === undefined

const isIn = (wanted: ReadonlySet<string>) => (object: KubeObject) => {
  const { apiVersion, kind, namespace, name } = idOf(object)
  if ((kind !== 'ConfigMap' && kind !== 'Secret') || groupOf(apiVersion) !== '') return false
  return wanted.has(valueId(kind, namespace, name))
}

const described = (objects: readonly KubeObject[]) => JSON.stringify(objects.map(({ root }) => canonical(root)))
