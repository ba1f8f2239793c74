import { BailiwickError } from '../errors.ts'
import { KUSTOMIZE_GROUP } from '../flux/kinds.ts'
import type { Json } from '../kube/node.ts'
import { jsonAt, mapAt, stringAt } from './json-at.ts'

/** The Flux Kustomization that applies an object. */
export interface Owner {
  readonly namespace: string
  readonly name: string
}

/** Flux's labels: dashboards and `flux tree` read them, and a cluster that leaves Flux keeps its owners. */
export const OWNER_NAME = `${KUSTOMIZE_GROUP}/name`
const OWNER_NAMESPACE = `${KUSTOMIZE_GROUP}/namespace`
/** On a live object, set by somebody with access to the cluster: `<namespace>/<name>` of the Kustomization that may take it over. */
export const ADOPT = 'bailiwick.dev/adopt'

/**
 * `absent`: nothing is there. `ours`: created or adopted by this owner. `foreign`: another Kustomization's.
 * `shared`: made by somebody else and nobody's by label.
 */
export type Ownership = 'absent' | 'ours' | 'foreign' | 'shared'

/** Whose the live object is. `knownUid`: the uid that the inventory holds for it, so that removed labels do not disown it. */
export function ownershipOf(live: Json | undefined, owner: Owner, knownUid: string | undefined): Ownership {
  if (live === undefined) return 'absent'
  if (carriesLabelsOf(live, owner)) return 'ours'
  const labels = mapAt(live, 'metadata', 'labels')
  const isKnown = knownUid !== undefined && knownUid === stringAt(live, 'metadata', 'uid')
  const { [OWNER_NAME]: name = owner.name, [OWNER_NAMESPACE]: namespace = owner.namespace } = labels
  // one of two labels that somebody took off, or both
  if (isKnown && name === owner.name && namespace === owner.namespace) return 'ours'
  if (Object.hasOwn(labels, OWNER_NAME) || Object.hasOwn(labels, OWNER_NAMESPACE)) return 'foreign'
  const adopt = stringAt(live, 'metadata', 'annotations', ADOPT)
  return adopt === `${owner.namespace}/${owner.name}` ? 'ours' : 'shared'
}

/** The label selector of what this owner applied. */
export function ownerSelector({ namespace, name }: Owner): string {
  return `${OWNER_NAME}=${name},${OWNER_NAMESPACE}=${namespace}`
}

/** True where the live object carries both owner labels of this owner. */
export function carriesLabelsOf(live: Json, owner: Owner): boolean {
  const labels = mapAt(live, 'metadata', 'labels')
  return labels[OWNER_NAME] === owner.name && labels[OWNER_NAMESPACE] === owner.namespace
}

/** Whose labels the live object carries; a part that it lacks is ''. */
export function labelledOwner(live: Json): Owner {
  const label = (key: string) => stringAt(live, 'metadata', 'labels', key)
  return { namespace: label(OWNER_NAMESPACE), name: label(OWNER_NAME) }
}

/** `<namespace>/<name>` of the Kustomization whose labels the live object carries; '/' where it carries none. */
export function ownerOf(live: Json): string {
  const { namespace, name } = labelledOwner(live)
  return `${namespace}/${name}`
}

/**
 * The object with the owner labels; a forged one of another owner is overwritten. Throws `cluster-invalid` where
 * `metadata.labels` is something else than a map: replacing it would apply what nobody wrote.
 */
export function withOwner(object: Json, owner: Owner): Json {
  const metadata = mapAt(object, 'metadata')
  const written = jsonAt(metadata, 'labels') ?? {}
  if (typeof written !== 'object' || Array.isArray(written)) {
    throw new BailiwickError('cluster-invalid', 'metadata.labels is not a map', {
      fix: 'Write labels as `key: value`.',
    })
  }
  const labels = { ...mapAt(metadata, 'labels'), [OWNER_NAME]: owner.name, [OWNER_NAMESPACE]: owner.namespace }
  return { ...mapAt(object), metadata: { ...metadata, labels } }
}

/** The object without owner labels: what is put on an object of somebody else must not make it ours. */
export function withoutOwner(object: Json): Json {
  const metadata = mapAt(object, 'metadata')
  if (jsonAt(metadata, 'labels') === undefined) return object
  const { [OWNER_NAME]: _name, [OWNER_NAMESPACE]: _namespace, ...labels } = mapAt(metadata, 'labels')
  return { ...mapAt(object), metadata: { ...metadata, labels } }
}

/** Who it belongs to, for a message; another namespace's Kustomization is not named, its tenant may be somebody else. */
export function foreignOwner(live: Json, owner: Owner): string {
  const labels = mapAt(live, 'metadata', 'labels')
  const same = labels[OWNER_NAMESPACE] === owner.namespace
  return same
    ? `Kustomization ${owner.namespace}/${String(labels[OWNER_NAME])}`
    : 'a Kustomization of another namespace'
}
