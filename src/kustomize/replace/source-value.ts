import { BailiwickError, type ErrorCode } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import {
  at,
  isAbsent,
  isEmpty,
  type Node,
  type ScalarNode,
  type ScalarValue,
  through,
  writtenText,
} from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import { type BuildBudget, checkObjectSize } from '../build-budget.ts'
import type { Entry, Target } from '../entry.ts'
import { currentId, type Resource, type ResourceId, refuseUnknown, withoutShared } from '../resource/resource.ts'
import { indexPart, isElementPart, parseElementPart, splitFieldPath, untyped } from './edit-path.ts'

/** How a part of a value is taken or put (api/types/replacement.go, FieldOptions). */
export interface FieldOptions {
  readonly delimiter: string
  readonly index: number
  readonly create: boolean
}

/** The one object and field that a value is copied from; absent parts match everything. */
export interface ReplacementSource {
  readonly origin: Origin
  readonly group?: Entry
  readonly version?: Entry
  readonly kind?: Entry
  readonly name?: Entry
  readonly namespace?: Entry
  readonly fieldPath: Entry
  readonly options: FieldOptions
}

/** Objects and fields that a value is copied to. */
export interface ReplacementTarget {
  readonly origin: Origin
  readonly select: Target
  readonly reject: readonly Target[]
  readonly fieldPaths: readonly Entry[]
  readonly options: FieldOptions
}

/** A value of one object that goes to others; `from` is that place or the value itself. */
export interface Replacement {
  readonly origin: Origin
  /** Through what the value comes to a target. */
  readonly step: Step
  readonly from: ReplacementSource | { readonly value: Entry }
  readonly targets: readonly ReplacementTarget[]
}

/** One entry of `replacements`: a replacement, or a file that holds one or a list of them. */
export type ReplacementEntry = Replacement | { readonly path: Entry; readonly step: Step }

type Place = readonly (string | number)[]

/**
 * What a replacement copies. kustomize copies from the object as it is at that moment, so a target that is the source
 * itself changes what later targets get; a writer reports it with `noteWrite`.
 */
export class SourceValue {
  private node: Node
  private readonly step: Step
  /** Absent for a value of its own. */
  private live: { readonly resource: Resource; readonly place: Place } | undefined

  constructor(node: Node, step: Step, live?: { readonly resource: Resource; readonly place: Place }) {
    this.node = node
    this.step = step
    this.live = live
  }

  get type(): Node['type'] {
    return this.node.type
  }

  /** The text of a scalar; maps and lists have none. */
  get text(): string {
    return this.node.type === 'scalar' ? writtenText(this.node) : ''
  }

  get origin(): Origin {
    const { origin } = this.node
    return { ...origin, via: [...(origin.via ?? []), this.step] }
  }

  /** A copy that records its replacement. Throws `render-limits` before it would be too large. */
  copy(budget: BuildBudget): Node {
    checkObjectSize(this.node, this.origin)
    budget.spendOnCopy(this.node, this.origin)
    return withoutShared(through(this.node, this.step))
  }

  noteWrite(resource: Resource, place: Place, written: Node, origin: Origin): void {
    if (this.live?.resource !== resource) return
    const source = this.live.place
    const shared = Math.min(place.length, source.length)
    if (source.slice(0, shared).some((key, index) => key !== place[index])) return
    if (place.length > source.length) {
      const message = 'replacements: copying a map or list into itself is not supported'
      throw new BailiwickError('kustomize-unsupported', message, { origin })
    }
    if (place.length === source.length) this.node = written
    else this.live = undefined
  }
}

/** Finds what a replacement copies. Throws `kustomize-invalid` where that is not exactly one value. */
export function findSource(resources: readonly Resource[], { from, step, origin }: Replacement): SourceValue {
  if ('value' in from) return new SourceValue(untyped(from.value.text, from.value.origin), step)
  const matching = resources.filter(resource => resource.writtenIds.some(id => isSelected(id, from)))
  const [resource, second] = matching
  if (!resource) return invalid('replacements: source matches no object', from.origin)
  if (second) return invalid('replacements: source matches more than one object', from.origin)
  const path = splitFieldPath(from.fieldPath.text)
  const found = lookUp(resource.root, path)
  if (typeof found === 'string' || isEmpty(found.node)) {
    const { kind, name } = currentId(resource)
    return invalid(`replacements: ${kind} ${name} has no value at ${from.fieldPath.text}`, from.fieldPath.origin)
  }
  checkNotes(resource, found.place, from.fieldPath.origin)
  refuseUnknown(found.node, from.fieldPath.origin)
  const { delimiter, index } = from.options
  if (delimiter === '') return new SourceValue(found.node, step, { resource, place: found.place })
  if (found.node.type !== 'scalar')
    return invalid('replacements: options.delimiter needs a string', from.fieldPath.origin)
  const piece = writtenText(found.node).split(delimiter)[index]
  if (piece === undefined) return invalid(`replacements: options.index ${index} is out of range`, origin)
  return new SourceValue(retype(found.node, piece, found.node.origin), step)
}

/** kustomize keeps notes among the annotations; copied elsewhere they would stay in the objects. */
export function checkNotes(resource: Resource, place: Place, origin: Origin): void {
  const isAll = place[0] === 'metadata' && (place.length === 1 || (place.length === 2 && place[1] === 'annotations'))
  if (!isAll) return
  const isNoted = at(resource.root, ['metadata', 'annotations', 'config.kubernetes.io/origin']) !== undefined
  if (!resource.hasNotes && !isNoted) return
  const message = 'replacements: copying all annotations of an object that the build changed is not supported'
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Name the individual annotations.' })
}

function isSelected(id: ResourceId, { group, version, kind, name, namespace }: ReplacementSource): boolean {
  if (name && name.text !== id.name) return false
  if (kind && kind.text !== id.kind) return false
  if (namespace && (namespace.text || 'default') !== (id.namespace || 'default')) return false
  if (group && group.text !== id.group) return false
  return !version || version.text === id.version
}

function invalid(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}

export interface FoundNode {
  readonly node: Node
  readonly place: readonly (string | number)[]
}

/**
 * The value at a field path, as the source of a replacement is found: the first element that fits, `-` for the last
 * one (kyaml's PathGetter). `absent` for nothing there, `fails` for a path that does not fit the object.
 */
function lookUp(root: Node, path: readonly string[]): FoundNode | 'absent' | 'fails' {
  let found: FoundNode = { node: root, place: [] }
  for (const part of path.map(name => name.trim()).filter(name => name !== '')) {
    const next = lookUpStep(found, part)
    if (typeof next === 'string') return next
    found = next
  }
  return found
}

/** One step of `lookUp`. */
export function lookUpStep({ node, place }: FoundNode, part: string): FoundNode | 'absent' | 'fails' {
  const key = keyOf(node, part)
  if (typeof key !== 'object') return key
  const child = node.type === 'map' ? node.fields.get(String(key.key))?.value : undefined
  const value = node.type === 'list' ? node.items[key.key as number] : child
  return value === undefined ? 'absent' : { node: value, place: [...place, key.key] }
}

function keyOf(node: Node, part: string): { key: string | number } | 'absent' | 'fails' {
  const index = indexPart(part)
  const isList = part === '-' || index !== undefined || isElementPart(part)
  if (part === '*' || (index !== undefined && index < 0)) return 'fails'
  if (isAbsent(node)) return part === '-' ? 'fails' : 'absent'
  if (!isList) return node.type === 'map' ? { key: part } : 'fails'
  if (node.type !== 'list') return 'fails'
  if (part === '-') return node.items.length === 0 ? 'fails' : { key: node.items.length - 1 }
  if (index !== undefined) return { key: index }
  const wanted = parseElementPart(part)
  if (!wanted) return 'fails'
  const position = node.items.findIndex(item => {
    if (wanted.key === '') return valueText(item) === wanted.value
    const field = item.type === 'map' ? item.fields.get(wanted.key)?.value : undefined
    return field !== undefined && valueText(field) === wanted.value
  })
  return position < 0 ? 'absent' : { key: position }
}

// what go-yaml keeps of a node as its text; maps and lists have none
const valueText = (node: Node): string => (node.type === 'scalar' ? writtenText(node) : '')

/**
 * A scalar with another text: its type and its quotes stay, as kustomize leaves the tag of a YAML node. Throws `code`
 * at `cause` for a text that is not a value of that type: kustomize cannot read back what it writes there.
 */
export function retype(
  scalar: ScalarNode,
  text: string,
  origin: Origin,
  code: ErrorCode = 'kustomize-invalid',
  cause = origin,
): ScalarNode {
  if (scalar.untyped && !scalar.quoted && !scalar.style) return untyped(text, origin)
  const type = typeOf(scalar.value, writtenText(scalar), scalar.quoted || scalar.style !== undefined)
  if (type === 'text') {
    const { quoted, style } = scalar
    return { type: 'scalar', value: text, origin, ...(quoted ? { quoted } : {}), ...(style ? { style } : {}) }
  }
  const value = resolvePlain(text)
  const given = value === undefined ? undefined : typeOf(value, text, false)
  if (value === undefined || !(given === type || (type === 'fraction' && given === 'number'))) {
    const message = `replacements: a string would replace a ${type} at ${scalar.origin.file}:${scalar.origin.line}`
    throw new BailiwickError(code, message, { origin: cause, fix: 'Use a source value of the same type.' })
  }
  return { type: 'scalar', value, origin, ...(String(value) === text ? {} : { text }) }
}

type Type = 'text' | 'number' | 'fraction' | 'boolean' | 'null' | 'date'

function typeOf(value: ScalarValue, text: string, isText: boolean): Type {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'bigint') return 'number'
  // a plain text that is another value for JSON is a date
  if (typeof value === 'string') return isText || value === text || resolvePlain(text) !== value ? 'text' : 'date'
  const isWhole = /^[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0?[oO]?[0-9_]+)$/.test(text) && Number.isInteger(value)
  return isWhole ? 'number' : 'fraction'
}
