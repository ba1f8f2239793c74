import { BailiwickError } from '../../errors.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import type { MapNode, Node, ScalarNode } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import type { Entry } from '../model/entry.ts'

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
    throw new BailiwickError('kustomize-unsupported', message, { origin: field.key, ...refused })
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

const FOLDED = new WeakMap<readonly string[], ReadonlyMap<string, string>>()

/** Each name by its folded form, the first of several. */
function foldedOf(known: readonly string[]): ReadonlyMap<string, string> {
  const before = FOLDED.get(known)
  if (before) return before
  const folded = new Map([...known].reverse().map(name => [fold(name), name]))
  FOLDED.set(known, folded)
  return folded
}

// Go's encoding/json also folds the long s and the Kelvin sign
const fold = (name: string): string => name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase()

/** Throws what kustomize refuses, too. */
export function invalid(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
