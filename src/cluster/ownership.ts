import { BailiwickError } from '../base/errors.ts'
import { KUSTOMIZE_GROUP } from '../kube/flux-kinds.ts'
import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import { ClusterError, type Refusal } from './cluster-error.ts'
import { jsonAt, mapAt, stringAt } from './json.ts'

/** The Flux Kustomization that applies an object. */
export interface Owner {
  readonly namespace: string
  readonly name: string
}

/** Flux's labels: dashboards and `flux tree` read them, and a cluster that leaves Flux keeps its owners. */
export const OWNER_NAME = `${KUSTOMIZE_GROUP}/name`
const OWNER_NAMESPACE = `${KUSTOMIZE_GROUP}/namespace`
/** On a live object, set on the cluster: `<namespace>/<name>` of the Kustomization that may take it over. */
export const ADOPT = 'bailiwick.dev/adopt'

/**
 * `absent`: nothing is there. `ours`: created or adopted by this owner. `foreign`: another Kustomization's. `shared`:
 * made by another client, without owner labels.
 */
export type Ownership = 'absent' | 'ours' | 'foreign' | 'shared'

/** Whose the live object is. `knownUid`: the uid that the inventory holds for it, so that removed labels do not disown it. */
export function ownershipOf(live: Json | undefined, owner: Owner, knownUid: string | undefined): Ownership {
  if (live === undefined) return 'absent'
  if (carriesLabelsOf(live, owner)) return 'ours'
  const labels = mapAt(live, 'metadata', 'labels')
  const isKnown = knownUid !== undefined && knownUid === stringAt(live, 'metadata', 'uid')
  const { [OWNER_NAME]: name = owner.name, [OWNER_NAMESPACE]: namespace = owner.namespace } = labels
  // one of two labels that were removed by hand, or both
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
 * `metadata.labels` is not a map: replacing it would apply what is not in git.
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

/** The object without owner labels: what is put on an object of another owner must not make it ours. */
export function withoutOwner(object: Json): Json {
  const metadata = mapAt(object, 'metadata')
  if (jsonAt(metadata, 'labels') === undefined) return object
  const { [OWNER_NAME]: _name, [OWNER_NAMESPACE]: _namespace, ...labels } = mapAt(metadata, 'labels')
  return { ...mapAt(object), metadata: { ...metadata, labels } }
}

/** The owner, for a message; a Kustomization of another namespace is not named, as it may be another tenant's. */
export function foreignOwner(live: Json, owner: Owner): string {
  const labels = mapAt(live, 'metadata', 'labels')
  const same = labels[OWNER_NAMESPACE] === owner.namespace
  return same
    ? `Kustomization ${owner.namespace}/${String(labels[OWNER_NAME])}`
    : 'a Kustomization of another namespace'
}

const PREFIX = 'kustomize.toolkit.fluxcd.io/'

/** Labels and annotations that steer how Flux applies one object. */
const FLUX_SWITCHES = ['ssa', 'force', 'prune', 'reconcile'] as const
export type FluxSwitch = (typeof FLUX_SWITCHES)[number]

/**
 * Why Flux would leave the object alone; undefined: it would not. Its switches are labels or annotations, in git or
 * on the live object, and their values ignore case (fluxcd/pkg ssa/utils AnyInMetadata).
 */
export function skipReason(
  desired: Json,
  live: Json | undefined,
  allowed: readonly FluxSwitch[] = FLUX_SWITCHES,
): string | undefined {
  for (const [object, where] of [
    [desired, ''],
    [live, ' on the live object'],
  ] as const) {
    if (hasSwitch(object, 'reconcile', 'disabled', allowed)) return `${PREFIX}reconcile: disabled${where}`
    if (hasSwitch(object, 'ssa', 'Ignore', allowed)) return `${PREFIX}ssa: Ignore${where}`
  }
  if (live !== undefined && hasSwitch(desired, 'ssa', 'IfNotPresent', allowed))
    return `${PREFIX}ssa: IfNotPresent, and it is there`
  return undefined
}

/** Why Flux would not prune the live object; undefined: it would. */
export function keepReason(live: Json): string | undefined {
  if (hasSwitch(live, 'prune', 'disabled')) return `${PREFIX}prune: disabled`
  return skipReason(live, undefined)
}

/** Whether a switch is set to a value on an object; never where it is not allowed. */
export function hasSwitch(
  object: Json | undefined,
  key: FluxSwitch,
  value: string,
  allowed: readonly FluxSwitch[] = FLUX_SWITCHES,
): boolean {
  if (object === undefined || !allowed.includes(key)) return false
  return ['labels', 'annotations'].some(part => {
    const set = mapAt(object, 'metadata', part)[`${PREFIX}${key}`]
    return typeof set === 'string' && set.toLowerCase() === value.toLowerCase()
  })
}

/** As Flux names an object in its errors: `ConfigMap/apps/settings`. */
function fluxName({ kind, namespace, name }: ObjectId): string {
  return [kind, namespace, name].filter(part => part !== '').join('/')
}

interface Attempt {
  readonly id: ObjectId
  readonly owner: Owner
  readonly attempted: 'dry-run' | 'apply'
  /** Values in it are not to be quoted, as those of a Secret are not. */
  readonly isConfidential: boolean
}

/**
 * The API server's refusal of an object in the words of Flux (fluxcd/pkg ssa/errors), without values of what is confidential,
 * and with what to do about a conflict; any other error as it is.
 */
export function explainRefusal(error: unknown, { id, owner, attempted, isConfidential }: Attempt): unknown {
  if (!(error instanceof ClusterError) || error.status === 401) return error
  const { refusal } = error
  if ((id.kind === 'Secret' || isConfidential) && mayQuote(refusal)) return hidden(error, id)
  const conflicts = refusal.causes.filter(cause => cause.reason === 'FieldManagerConflict')
  if (conflicts.length > 0) {
    const fields = conflicts.map(({ field, message }) => `${field} (${message})`).join(', ')
    const message = `${display(id)} is not managed by Bailiwick, and other managers own ${fields}`
    const fix = `Leave these fields out, or let a person with access to the cluster annotate the object ${ADOPT}: ${owner.namespace}/${owner.name}.`
    return new ClusterError(error.code, message, refusal, { fix })
  }
  return new ClusterError(error.code, `${fluxName(id)} ${verdict(id, refusal, attempted)}: ${refusal.text}`, refusal)
}

/** Only `secrets "a" is forbidden: User "b" cannot patch resource "secrets" in API group "" in the namespace "c"`. */
const NO_RIGHT =
  /^\S+ "[^"]*" is forbidden: User "[^"]*" cannot [a-z]+ resource "[^"]*" in API group "[^"]*"(?: in the namespace "[^"]*"| at the cluster scope)?$/

/** Whether a refusal may quote what was sent: all but those of a known form, since webhooks and policies answer with any status and text. */
function mayQuote({ status, text, causes }: Refusal): boolean {
  if (status === 404) return false
  if (status === 403) return !NO_RIGHT.test(text) && !causes.some(cause => cause.reason === 'NamespaceTerminating')
  return status !== 409 || !causes.some(cause => cause.reason === 'FieldManagerConflict')
}

function verdict({ namespace }: ObjectId, { status, reason }: Refusal, attempted: Attempt['attempted']): string {
  if (attempted === 'apply') return 'apply failed'
  if (status === 404) return namespace === '' ? 'namespace not specified' : 'not found'
  return reason === '' ? 'dry-run failed' : `dry-run failed (${reason})`
}

function hidden({ code, refusal }: ClusterError, id: ObjectId): ClusterError {
  const fields = refusal.causes.map(cause => cause.field).filter(Boolean)
  const where = fields.length > 0 ? `, ${fields.join(', ')}` : ''
  const message = `the API server refuses ${display(id)} (status ${refusal.status}${where})`
  return new ClusterError(
    code,
    message,
    { ...refusal, text: '', causes: refusal.causes.map(({ reason, field }) => ({ reason, field, message: '' })) },
    {
      fix: 'The message is omitted because it may quote the value. Check the types of the fields.',
    },
  )
}
