import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { at, type Node, type Path, stringAt } from '../../../kube/node.ts'
import type { Message } from '../../../message/message.ts'
import { allowedWords, hasSelector, isAllowedBy } from './capsule-list.ts'

/** What Capsule's webhooks refuse of an object in a namespace of a Tenant. */
export interface CapsuleRefusal {
  readonly path: Path
  /** What Capsule refuses: the object, or what a controller of Kubernetes makes of it. */
  readonly what: 'it' | 'its Pods' | 'its PersistentVolumeClaims'
  /** Field of the Tenant. */
  readonly field: Path
  /** In Capsule's words; undefined where the answer depends on what only the cluster knows. */
  readonly words: string | undefined
  readonly value: string
  /** What to do, where that is not to change the value. */
  readonly fix?: Message
}

/** Where the answer is looked for. */
export interface Place {
  readonly index: FleetIndex
  /** As it was before a change. */
  readonly before: FleetIndex | undefined
  readonly cluster: string
  /** The Tenant's. */
  readonly spec: Node
  readonly tenant: string
  /** The minor version of Capsule. */
  readonly version: number
}

/** How Capsule speaks of a class. */
export interface ClassWords {
  /** In `spec` of the Tenant, with dots. */
  readonly field: string
  readonly kind: string
  readonly refusal: (name: string, object: string) => string
  /** Where the object names none and the Tenant has no default; absent: that is allowed. */
  readonly missing?: string
  /** Capsule lets a list without labels select every class that is there. */
  readonly selectsAll?: true
}

/** The class that a field of an object names, or that it names none. */
export function* refusedClass(root: Node, path: Path, place: Place, words: ClassWords): Iterable<CapsuleRefusal> {
  const field = words.field.split('.')
  const list = at(place.spec, field)
  if (list?.type !== 'map') return
  const name = stringAt(root, path)
  const base = { path, what: 'it' as const, field }
  if (name === undefined) {
    if (words.missing !== undefined && !stringAt(list, ['default']))
      yield { ...base, words: words.missing + allowedWords(list, { isSorted: false }), value: 'no class' }
    return
  }
  const { index, cluster, version } = place
  // before 0.13 a class without a name is not looked for
  if (name === '' && hasSelector(list) && version >= 13)
    return yield { ...base, words: 'resource name may not be empty', value: 'no class' }
  const allowed = isAllowedBy(list, name, { index, cluster, kind: words.kind })
  const isOfAll = allowed === false && words.selectsAll === true && !hasSelector(list)
  if (allowed === true || (isOfAll && index.platformObject(cluster, words.kind, '', name))) return
  const refusal = words.refusal(name, stringAt(root, ['metadata', 'name']) ?? '') + allowedWords(list)
  yield { ...base, words: allowed === undefined || isOfAll ? undefined : refusal, value: name }
}
