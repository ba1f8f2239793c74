import { BailiwickError } from '../../base/errors.ts'
import { probably } from '../../base/name-list.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { isAbsent, itemsOf, type MapNode, type Node, type ScalarNode } from '../../kube/node.ts'
import type { ParsedFile } from '../../kube/yaml/parse-documents.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { Entry, PatchEntry } from '../entry.ts'
import type { FieldSpec } from '../resource/field-spec.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import type { TransformerConfig } from './transformer-config.ts'

/** What holds of every field that kustomize knows (api/types/kustomization.go, 5.8.1), built or refused. */
export interface KnownField {
  /** Older names of it; what is written there comes after what is written under its own. */
  readonly olderNames?: readonly string[]
  /** Its type in Go, as `src/flux/flux-overlay.ts` writes types. */
  readonly goType: string
  /** What may be an address in it. */
  paths?(value: Node): readonly (Node | undefined)[]
  /** A repository at a commit may be named there: whether it is at hand shows when it is built. */
  readonly mayBePinned?: true
  /** Its entries are objects that configure builtins, or lead to such. */
  readonly holdsBuiltins?: true
  readonly leftOut?: LeftOut
  /** Its row in docs/supported.md; fields with the same one share it. */
  readonly docs: FieldDocs
}

/** What is not known where a lenient build leaves out an entry; without it: how what the kustomization builds would differ. */
interface LeftOut {
  /** `only`: entries do nothing but add objects; `also`: they add objects, and may change others. */
  readonly objects?: 'only' | 'also'
  /** Entries read or change whatever there is, in the kustomization or in the whole build. */
  readonly reach?: 'kustomization' | 'build'
}

/** In Markdown; absent: nothing is built, or nothing is refused. */
export interface FieldDocs {
  readonly built?: string
  readonly refused?: string
}

/** A field that no build of ours has. */
export interface RefusedField extends KnownField {
  /** Throws for a value that breaks a rule; any other is not supported. */
  forbid?(value: Node): void
}

/** A field that is read; its name is its key in the registry. */
export interface KustomizationField<T> extends KnownField {
  /**
   * `brings`: adds objects; `changes`: makes others of what the other fields bring; `reads`: changes by values that it
   * takes from other objects; `itself`: does nothing to what comes from below.
   */
  readonly effect: 'brings' | 'changes' | 'reads' | 'itself'
  /** Its value, undefined or an empty list where it is absent. Throws what kustomize refuses, and what we do not know. */
  read(root: MapNode, file: string): T
}

/** A field that a builtin transformer serves. */
export interface TransformingField<T> extends KustomizationField<T> {
  /** Applies the field to the objects. A strict build calls it for a field that is absent, too. */
  apply(resources: ResourceList, value: T, context: TransformContext): void
  /** It does the same to each object, so that one of them may be to blame where it fails. */
  readonly toEach?: true
  /** Its list is one entry, of pairs. */
  readonly isOneEntry?: true
}

/** What a transformer knows beside the objects and its field. */
export interface TransformContext {
  /** The file with the field, which is named in the steps of values. */
  readonly writtenIn: string
  /** Of the kustomization. */
  readonly directory: string
  readonly config: TransformerConfig
  readonly budget: BuildBudget
  /** The file that an entry of the kustomization names. Throws `kustomize-missing` and what reading it throws. */
  readonly file: (entry: Entry) => ParsedFile
  /** Gets how many objects the target of a patch selected. */
  readonly selected: (patch: Pick<PatchEntry, 'origin' | 'target' | 'step'>, count: number) => void
}

/** kustomize reads its own file with YAML 1.1 rules (go-yaml v2): there these words are booleans. */
const NOT_TEXT_IN_YAML_1_1 = /^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/

/** A field of a map that decodes as text; undefined where it is absent or null. Throws `kustomize-invalid`. */
export function textField(map: MapNode, name: string): Entry | undefined {
  const node = map.fields.get(name)?.value
  return isAbsent(node) ? undefined : textEntry(node, name)
}

/** A node that decodes as text for YAML 1.1 and 1.2 alike. */
function textEntry(node: Node, name: string): Entry {
  const scalar = scalarText(node, name)
  return { text: scalar.value, origin: scalar.origin }
}

/** The same, as the node it is. */
export function scalarText(node: Node, name: string): ScalarNode & { value: string } {
  // a date stays what was written
  if (isTextInOldYaml(node)) return { ...node, value: node.text ?? node.value }
  return invalid(`${name}: not a string. Quote the value`, node.origin)
}

/** Whether YAML 1.1 and 1.2 both read a text there. */
export function isTextInOldYaml(node: Node): node is ScalarNode & { value: string } {
  if (node.type !== 'scalar' || typeof node.value !== 'string') return false
  return Boolean(node.quoted || node.style) || !NOT_TEXT_IN_YAML_1_1.test(node.value)
}

/** A list of texts; absent: empty. */
export function textList(map: MapNode, name: string): (Entry & { node: ScalarNode })[] {
  return listField(map, name).map(node => ({ ...textEntry(node, name), node: scalarText(node, name) }))
}

/** The elements of a list field; absent: none. */
export function listField(map: MapNode, name: string): readonly Node[] {
  const node = map.fields.get(name)?.value
  if (isAbsent(node)) return []
  if (node.type !== 'list') return invalid(`${name}: not a list`, node.origin)
  return node.items
}

/** A map field; absent: undefined. */
export function mapField(map: MapNode, name: string): MapNode | undefined {
  const node = map.fields.get(name)?.value
  return isAbsent(node) ? undefined : asMap(node, name)
}

/** A node that must be a map. Throws `kustomize-invalid`. */
export function asMap(node: Node, name: string): MapNode {
  return node.type === 'map' ? node : invalid(`${name}: not a map`, node.origin)
}

/** What decodes into a struct of Go: a map, or null for an empty one. */
export function structNode(node: Node, name: string): MapNode {
  return isAbsent(node) ? { type: 'map', fields: new Map(), origin: node!.origin } : asMap(node, name)
}

/** A map from text to text; null is the empty text there. */
export function textPairs(map: MapNode, name: string): (readonly [string, Entry])[] {
  const pairs = mapField(map, name)
  return [...(pairs?.fields ?? [])].map(([key, { key: origin, value }]) => {
    if (NOT_TEXT_IN_YAML_1_1.test(key)) {
      const message = `${name}: the key ${key} is a boolean in YAML 1.1. Quote the key`
      throw new BailiwickError('kustomize-unsupported', message, { origin })
    }
    return [key, isAbsent(value) ? { text: '', origin } : textEntry(value, `${name}.${key}`)] as const
  })
}

/** A boolean that YAML 1.1 and 1.2 read alike. */
export function booleanField(map: MapNode, name: string): boolean {
  const node = map.fields.get(name)?.value
  if (isAbsent(node)) return false
  if (node.type === 'scalar' && typeof node.value === 'boolean') return node.value
  return invalid(`${name}: not a boolean. Allowed: true or false`, node.origin)
}

/**
 * Refuses every field of `map` that is not in `allowed`: another spelling of one is a violation (Go reads field names
 * without regard to case, so a reader that is strict about it is blind), anything else is not supported. What is not among
 * the `known` ones kustomize refuses, too.
 */
export function refuseOtherFields(
  map: MapNode,
  allowed: readonly string[],
  where: string,
  known: readonly string[] | undefined = undefined,
): void {
  for (const [name, field] of map.fields) {
    if (allowed.includes(name)) continue
    refuseCaseVariant(name, allowed, field.key)
    const message = `${where}: the field ${JSON.stringify(name)} is not supported. Supported: ${allowed.join(', ')}`
    const refused = known && !known.includes(name) ? { refused: true } : {}
    const meant = probably(name, allowed)
    const fix = meant === undefined ? {} : { fix: `Did you mean ${meant}?` }
    throw new BailiwickError('kustomize-unsupported', message, { origin: field.key, ...refused, ...fix })
  }
}

/** Refuses a name that Go reads as one of `known` though it is spelled otherwise (rule `kustomize-case-variant-key`). */
export function refuseCaseVariant(name: string, known: readonly string[], origin: Origin): void {
  const meant = foldedOf(known).get(fold(name))
  if (!meant || meant === name) return
  throw new BailiwickError(
    'kustomize-unsupported',
    `${JSON.stringify(name)}: kustomize reads this field as ${meant}. Allowed: ${meant}`,
    {
      origin,
      rule: 'kustomize-case-variant-key',
      identity: `${JSON.stringify(name)} is another spelling of ${meant}`,
      fix: `Rename the field to ${meant}.`,
    },
  )
}

/** Each name by its folded form, the first of several. */
const foldedOf = oncePer(
  (known: readonly string[]): ReadonlyMap<string, string> =>
    new Map([...known].reverse().map(name => [fold(name), name])),
)

// Go's encoding/json also folds the long s and the Kelvin sign
const fold = (name: string): string => name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase()

/** Throws what kustomize refuses, too. */
export function invalid(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}

/** The `path` of each element. */
export const pathOfEach = (node: Node): readonly (Node | undefined)[] =>
  itemsOf(node).map(item => caseless(item, 'path'))

/** A field of what may be a map, in whatever letters; `name` in lower case. */
export function caseless(node: Node, name: string): Node | undefined {
  if (node.type !== 'map') return undefined
  for (const [key, { value }] of node.fields) if (key === name || key.toLowerCase() === name) return value
  return undefined
}

/**
 * The list of field specs in the field `name` of `map`; absent: none. `knowsNotes`: they are for a transformer that knows
 * of kustomize's own annotations. Throws `kustomize-invalid`.
 */
export function readFieldSpecs(map: MapNode, name: string, knowsNotes = false): readonly FieldSpec[] {
  return listField(map, name).map(node => {
    const entry = structNode(node, `${name}[]`)
    refuseOtherFields(entry, ['group', 'version', 'kind', 'path', 'create'], name)
    const [group, version, kind] = (['group', 'version', 'kind'] as const).map(part => textField(entry, part)?.text)
    const path = textField(entry, 'path')
    const creates = booleanField(entry, 'create')
    if (path) refuseNotes(path, creates || knowsNotes)
    return {
      path: path?.text ?? '',
      ...(group ? { group } : {}),
      ...(version ? { version } : {}),
      ...(kind ? { kind } : {}),
      ...(creates ? { create: true } : {}),
    }
  })
}

/** What kustomize takes for the merge key of YAML, and what it loses. */
const LOST: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)<<(?:\[\])?(?:\/|$)/, 'merge key (<<)'],
  [/\ufeff/, 'byte order mark'],
]

/** kustomize keeps notes among the annotations of an object, so a path can lead to annotations that are not in git. */
function refuseNotes({ text, origin }: Entry, creates: boolean): void {
  const lost = LOST.find(([part]) => part.test(text))
  if (lost) {
    const message = `field spec ${text.replaceAll('\ufeff', '\\ufeff')}: a ${lost[1]} in the path is not supported`
    throw new BailiwickError('kustomize-unsupported', message, { origin })
  }
  const isWhole = /^\/?metadata\/annotations(?:\[\])?$/.test(text) && !creates
  if (!isWhole && !/^\/?metadata\/annotations\/.*config\\?\.(?:kubernetes|k8s)\\?\.io/.test(text)) return
  const message = `field spec ${text}: selects internal annotations of kustomize, which is not supported`
  throw new BailiwickError('kustomize-unsupported', message, {
    origin,
    fix: 'Name one annotation, or add create: true.',
  })
}
