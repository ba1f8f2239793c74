import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import type { Message } from '../../base/message.ts'
import { containsPattern } from '../../expr/regexp/pattern.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { readLabelSelector, selects, textMapOf } from '../../kube/read-fields.ts'
import { textsAt } from '../model/object-values.ts'

const MAX_STEPS = 1_000_000

/** Whether a Go regular expression matches a part of a text; undefined if not known. */
export function goMatches(text: string, pattern: string): boolean | undefined {
  let left = MAX_STEPS
  const spend = (_what: 'steps', amount: number) => {
    left -= amount
    if (left < 0) throw new BailiwickError('render-limits', 'takes too long')
  }
  return unlessRefused(undefined, () =>
    containsPattern({ text: pattern, origin: { repository: '', file: '', line: 1, column: 1 } }, text, { spend }),
  )
}

/** Where the classes of a list with labels are found. */
interface Classes {
  readonly index: FleetIndex
  readonly cluster: string
  /** `<group>/<Kind>`. */
  readonly kind: string
}

/**
 * Whether a Capsule list (`allowed`, `allowedRegex`, `default`, labels of classes) allows a value; undefined if not
 * known. A class without a name means that no default is set.
 */
export function isAllowedBy(list: Node, value: string, classes?: Classes): boolean | undefined {
  const usual = stringAt(list, ['default']) ?? (classes ? '' : undefined)
  if (textsAt(list, ['allowed']).includes(value) || usual === value) return true
  const pattern = stringAt(list, ['allowedRegex'])
  const matched = pattern ? goMatches(value, pattern) : false
  if (matched !== false || !classes || !hasSelector(list)) return matched
  const { index, cluster, kind } = classes
  const object = index.platformObject(cluster, kind, '', value)
  const selector = readLabelSelector(list)
  if (!object || !selector) return undefined
  return selects(selector, textMapOf(at(object.root, ['metadata', 'labels'])) ?? new Map())
}

const hasSelector = (list: Node): boolean =>
  at(list, ['matchLabels']) !== undefined || at(list, ['matchExpressions']) !== undefined

/** How Capsule prints a list: sorted once it has searched it; in one place with a blank before a pattern. */
interface ListStyle {
  readonly isSorted: boolean
  readonly blank?: ' '
}

/** What a list allows, in Capsule's words (pkg/api/errors/allowed.go). */
function allowedWords(list: Node, style: ListStyle = SORTED): string {
  return [
    ...listedWords(list, style),
    ...(hasSelector(list) ? ['matching the label selector defined in the Tenant'] : []),
  ].join(' or ')
}

const SORTED: ListStyle = { isSorted: true }

const sorted = (texts: readonly string[]) =>
  texts.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : Number(a.toLowerCase() > b.toLowerCase())))

/** The same for a list without labels: lists of registries have none. */
export function listedWords(list: Node, { isSorted, blank }: ListStyle): string[] {
  const written = textsAt(list, ['allowed'])
  const exact = isSorted ? sorted(written) : written
  const pattern = stringAt(list, ['allowedRegex'])
  return [
    ...(exact.length > 0 ? [`use one from the following list (${exact.join(', ')})`] : []),
    ...(pattern ? [`${blank ?? ''}use one matching the following regex (${pattern})`] : []),
  ]
}

/** The first key that a Capsule list (`denied`, `deniedRegex`) forbids, in Capsule's words (api/forbidden_list.go). */
export function forbiddenKey(
  list: Node | undefined,
  keys: Iterable<string>,
  version: number,
): { key: string; words: string } | undefined {
  const written = textsAt(list, ['denied'])
  const denied = version < 13 ? sorted(written) : written
  const pattern = stringAt(list, ['deniedRegex'])
  for (const key of keys) {
    if (!denied.includes(key) && !(pattern && goMatches(key, pattern) !== false)) continue
    const all = [
      ...(denied.length > 0 ? [`one of the following (${denied.join(', ')})`] : []),
      ...(pattern ? [`matching the regex ${pattern}`] : []),
    ]
    return { key, words: `${key} is forbidden for the current Tenant. Forbidden are ${all.join(' or ')}` }
  }
  return undefined
}

/** What Capsule's webhooks refuse of an object in a namespace of a Tenant. */
export interface CapsuleRefusal {
  readonly path: Path
  /** What Capsule refuses: the object, or what a Kubernetes controller creates from it. */
  readonly what: 'it' | 'its Pods' | 'its PersistentVolumeClaims'
  /** Field of the Tenant. */
  readonly field: Path
  /** In Capsule's words; undefined where the answer depends on what only the cluster knows. */
  readonly words: string | undefined
  readonly value: string
  /** The fix, where it is not to change the value. */
  readonly fix?: Message
}

/** The Tenant and fleet that decide about an object. */
export interface Place {
  readonly index: FleetIndex
  /** The fleet before a change. */
  readonly before: FleetIndex | undefined
  readonly cluster: string
  /** The Tenant's. */
  readonly spec: Node
  readonly tenant: string
  /** The minor version of Capsule. */
  readonly version: number
}

/** Capsule's words for a class. */
export interface ClassWords {
  /** In `spec` of the Tenant, with dots. */
  readonly field: string
  readonly kind: string
  readonly refusal: (name: string, object: string) => string
  /** The answer if the object names none and the Tenant has no default; absent: that is allowed. */
  readonly missing?: string
  /** For Capsule, a list without labels selects every existing class. */
  readonly selectsAll?: true
}

/** The refusal of the class that a field of an object names, or of its absence. */
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
  // before 0.13 Capsule does not look up a class without a name
  if (name === '' && hasSelector(list) && version >= 13)
    return yield { ...base, words: 'resource name may not be empty', value: 'no class' }
  const allowed = isAllowedBy(list, name, { index, cluster, kind: words.kind })
  const isOfAll = allowed === false && words.selectsAll === true && !hasSelector(list)
  if (allowed === true || (isOfAll && index.platformObject(cluster, words.kind, '', name))) return
  const refusal = words.refusal(name, stringAt(root, ['metadata', 'name']) ?? '') + allowedWords(list)
  yield { ...base, words: allowed === undefined || isOfAll ? undefined : refusal, value: name }
}
