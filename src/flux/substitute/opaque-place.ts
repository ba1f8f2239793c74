import { BailiwickError } from '../../errors.ts'
import { capabilityOf, fieldsNaming } from '../../kube/capabilities/index.ts'
import { placesOf } from '../../kube/capabilities/places-of.ts'
import { at, type MapNode, type Node, type Path, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { KUBERNETES } from '../../kube/scope/kubernetes-scopes.ts'
import type { Origin } from '../../origin.ts'
import { valuesOf } from '../kinds.ts'

/** Fields of Flux's kinds that say what is applied where, from where, and by whom; and what may hold such fields. */
const OF_FLUX = new Set(
  (
    'apiVersion kind namespace serviceAccountName serviceAccount sourceRef chartRef url endpoint targetNamespace ' +
    'storageNamespace kubeConfig dependsOn accessFrom labels'
  ).split(' '),
)
const FLUX = /(?:^|\.)(?:toolkit\.fluxcd\.io|fluxcd\.controlplane\.io|extensions\.fluxcd\.io)$/
/** Groups whose objects are tenants, or restrict them, also by their names. */
const NAMED = /(?:^|\.)(?:clastix\.io|kyverno\.io|gatekeeper\.sh|istio\.io|cilium\.io|projectcalico\.org)$/
/** Fields of Kubernetes' own kinds: the account of a pod, and the namespace of whatever they refer to. */
const OF_KUBERNETES = new Set(['serviceAccountName', 'serviceAccount', 'namespace'])
const OF_METADATA = new Set(['namespace', 'labels', 'finalizers', 'ownerReferences'])
const TEMPLATE = new Set(['template', 'jobTemplate'])
const STRUCTURE = new Set(['metadata', 'spec', 'template', 'jobTemplate', 'annotations', 'items', 'containers'])

/** Names that people give to what they keep, not fields of the API: any word may stand there. */
const CONTENT: ReadonlyMap<string, readonly (readonly string[])[]> = new Map<string, readonly (readonly string[])[]>([
  ['/ConfigMap', [['data'], ['binaryData']]],
  ['/Secret', [['data'], ['stringData']]],
  ...[...valuesOf(row => row.free)].map(([kind, path]) => [kind, [path]] as const),
])

/**
 * Throws `unrendered-variable` where a value that only the cluster has stands in an identity: there a verdict on the rest would
 * be about another object. Anywhere else the value is marked and nobody is misled. Identities are known by the schema of a
 * kind: a word as `kind` or `url` in the settings of another one is none.
 */
export function refuseOpaque(root: MapNode, place: Path, origin: Origin): void {
  if (!isIdentity(root, place)) return
  const path = place.filter(step => typeof step === 'string').join('.')
  throw refusal(
    `${path}: contains an unknown value, which only the cluster has. Allowed: a value in git, because this field decides what is applied, where and by which account`,
    origin,
  )
}

/**
 * Throws `unrendered-variable` for a key that only the cluster knows: it may be any field. One without a text of its own
 * among the data of a ConfigMap is none (Knative has its domain as such a key).
 */
export function refuseOpaqueKey(root: MapNode, place: Path, value: Node, origin: Origin): void {
  const kind = `${groupOf(stringAt(root, ['apiVersion']) ?? '')}/${stringAt(root, ['kind']) ?? ''}`
  const isEmpty = value.type === 'scalar' && value.value === ''
  if (kind === '/ConfigMap' && place.length === 1 && place[0] === 'data' && isEmpty) return
  const where = place.length === 0 ? 'the object' : place.join('.')
  throw refusal(`${where}: a key contains an unknown value, which only the cluster has, so it can be any field`, origin)
}

function refusal(message: string, origin: Origin): BailiwickError {
  return new BailiwickError('unrendered-variable', message, {
    origin,
    fix: 'Write the value into git, or declare it in .github/bailiwick.yaml.',
  })
}

function isIdentity(root: MapNode, place: Path): boolean {
  const path = place.filter(step => typeof step === 'string')
  const last = path.at(-1) ?? ''
  if (path.every(step => STRUCTURE.has(step))) return true
  const group = groupOf(stringAt(root, ['apiVersion']) ?? '')
  const kind = `${group}/${stringAt(root, ['kind']) ?? ''}`
  if (isContent(kind, path) || isOwnName(kind, group, place)) return false
  if (isOfObject(root, place, path)) return true
  if (path[0] === 'metadata') return false
  if (group === 'rbac.authorization.k8s.io') return true
  if (FLUX.test(group))
    return path.some(step => OF_FLUX.has(step)) || STRUCTURE.has(last) || path.join('.') === 'spec.path'
  if (Object.hasOwn(KUBERNETES, group) || group.endsWith('.k8s.io')) return OF_KUBERNETES.has(last)
  return fieldsNaming(kind, 'namespace', 'identity').some(field =>
    placesOf(root, field.at).some(one => isWithin(place, one)),
  )
}

/**
 * The name of a custom object of a namespaced kind that rules know. No namespace, account or right is known by it, and whoever
 * may decide the value is asked about like anywhere else.
 */
function isOwnName(kind: string, group: string, place: Path): boolean {
  if (place.length !== 2 || place[0] !== 'metadata' || place[1] !== 'name') return false
  const isKnown = Object.hasOwn(KUBERNETES, group) || group.endsWith('.k8s.io') || FLUX.test(group)
  return !isKnown && !NAMED.test(group) && capabilityOf(kind)?.scope === 'Namespaced'
}

/** What says which object it is: of the root, of the template of a pod, and of a manifest that another object holds. */
function isOfObject(root: MapNode, place: Path, path: readonly string[]): boolean {
  const last = path.at(-1) ?? ''
  if (last === 'apiVersion' || last === 'kind') {
    const holder = at(root, place.slice(0, -1))
    return path.length === 1 || (holder?.type === 'map' && holder.fields.has('metadata'))
  }
  const index = path.lastIndexOf('metadata')
  if (index < 0 || (index > 0 && !TEMPLATE.has(path[index - 1]!) && !isManifest(root, place))) return false
  const field = path[index + 1] ?? ''
  if (last.includes('toolkit.fluxcd.io/') || OF_METADATA.has(field)) return true
  return field === 'name' && path.length === index + 2
}

/** Whether the metadata that a field stands in is that of a whole manifest. */
function isManifest(root: MapNode, place: Path): boolean {
  const holder = at(root, place.slice(0, place.lastIndexOf('metadata')))
  return holder?.type === 'map' && holder.fields.has('apiVersion') && holder.fields.has('kind')
}

function isContent(kind: string, path: readonly string[]): boolean {
  const places = CONTENT.get(kind) ?? []
  return places.some(place => path.length > place.length && place.every((step, index) => step === path[index]))
}

const isWithin = (place: Path, field: Path): boolean => field.every((step, index) => step === place[index])
