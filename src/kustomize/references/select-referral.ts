import { BailiwickError } from '../../errors.ts'
import { writtenText } from '../../kube/edit-node.ts'
import type { Origin } from '../../origin.ts'
import { specMatches } from '../resource/field-spec.ts'
import { describe, NO_NAMESPACE, type Resource, type ResourceId } from '../resource/resource.ts'
import type { ReferenceRule } from './reference-fields.ts'
import { writtenNamespace } from './reference-targets.ts'
import { roleRefParts } from './role-binding.ts'

/** A field that holds a name, and whose. */
export interface NameReference {
  readonly referrer: Resource
  /** The kind that the field is about. */
  readonly rule: Pick<ReferenceRule, 'group' | 'version' | 'kind'>
  readonly path: string
}

/**
 * The object among `called` (what had the name that stands in the field) that the reference means; undefined for none.
 * Throws `kustomize-invalid` where it could be several that are not `same` (selectReferral of filters/nameref, 5.8.1).
 */
export function selectReferral(
  { referrer, rule, path }: NameReference,
  called: readonly Resource[],
  origin: Origin,
  same: (a: Resource, b: Resource) => boolean,
): Resource | undefined {
  let found = called.filter(target => target.previous.length > 0 && wasOf(target, { ...rule, path: '' }))
  const roleRef = path.endsWith('roleRef/name') ? roleRefParts(referrer) : undefined
  if (roleRef) {
    const named = { group: writtenText(roleRef.group), kind: writtenText(roleRef.kind), path: '' }
    found = found.filter(target => wasOf(target, named))
  }
  found = found.filter(target => isNear(referrer, target))
  if (found.length === 1) return found[0]
  found = found.filter(target => sharesAffixes(referrer, target, true))
  if (found.length > 1) found = found.filter(target => sharesAffixes(referrer, target, false))
  const [first, ...others] = found
  if (!first || others.every(other => same(first, other))) return first
  const names = found.slice(0, 5).map(target => describe(target.current))
  const message = `${path}: matches each of ${names.join(', ')}`
  throw new BailiwickError('kustomize-invalid', `ambiguous reference: ${message}`, { origin })
}

/** Whether the object was of a kind before; its group and version are those of today. */
function wasOf(target: Resource, kind: { path: string; group?: string; version?: string; kind?: string }): boolean {
  const { group, version } = target.current
  return target.previous.some(id => specMatches(kind, { group, version, kind: id.kind } satisfies Partial<ResourceId>))
}

function isNear(referrer: Resource, target: Resource): boolean {
  const own = referrer.current.namespace
  const other = target.current
  if (own === NO_NAMESPACE || other.namespace === NO_NAMESPACE) return true
  return other.kind === 'ServiceAccount' || own === other.namespace
}

/** Whether one of the two went through the same kustomizations as the other, as far as affixes tell. */
function sharesAffixes(a: Resource, b: Resource, allowEmpty: boolean): boolean {
  return (['prefixes', 'suffixes'] as const).every(side => {
    if (allowEmpty && (a[side].length === 0 || b[side].length === 0)) return true
    return endAlike(a[side], b[side])
  })
}

function endAlike(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length > b.length ? [b, a] : [a, b]
  if (short.length === 0) return long.length === 0
  const difference = long.length - short.length
  return short.every((part, index) => part === long[index + difference])
}

/** Whether a reference to either reads the same. */
export function sameName(a: Resource, b: Resource): boolean {
  return a.current.name === b.current.name
}

/** The same for a reference that says the namespace, too. */
export function sameNameAndNamespace(a: Resource, b: Resource): boolean {
  return sameName(a, b) && writtenNamespace(a) === writtenNamespace(b)
}
