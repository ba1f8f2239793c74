import { at, type Field, itemsOf, type ListNode, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import type { Hole, Unseen } from '../../kube/object.ts'
import { failingParts, type Tolerance } from '../entry.ts'
import { isRemote, pinnedAddress } from '../paths.ts'
import { checkTexts } from '../resource/round-trip.ts'
import { spellVersion } from './build-settings.ts'
import { caseless, invalid, type KustomizationField, refuseCaseVariant, refuseOtherFields } from './field.ts'
import { refuseHelm, refusePlugin, refuseRemote } from './refused.ts'
import { FIELDS, type FieldValues, KNOWN_FIELDS, KNOWN_NAMES, OLDER_NAMES, READ_NAMES } from './registry.ts'

/** A kustomization.yaml with everything in it that we support; what we do not was refused when it was read. */
export interface Kustomization extends FieldValues {
  /** Path of the file; for one that Flux generates, the directory with `kustomization.yaml`. */
  readonly file: string
  readonly directory: string
  /** Characters of the file that people do not see, where it was read elsewhere. */
  readonly unseen?: readonly Unseen[]
  /** Not in git: Flux generates one for a directory that has none. Its entries leave no trail. */
  readonly generated?: true
}

const named = Object.entries<KustomizationField<unknown>>(FIELDS) as [keyof FieldValues, KustomizationField<unknown>][]
const fieldsThat = (...effects: readonly string[]) =>
  named.filter(([, { effect }]) => effects.includes(effect)).map(([name]) => name)

const CHANGING = fieldsThat('changes', 'reads')
const READING = fieldsThat('reads')

/** The fields that are set by which a kustomization changes the objects of its bases, by name. */
export function changingFields(kustomization: Kustomization): readonly (readonly [string, unknown])[] {
  return CHANGING.filter(name => isSet(kustomization[name])).map(name => [name, kustomization[name]])
}

/** Whether a kustomization writes values of some objects into others. */
export const readsOthers = (kustomization: Kustomization): boolean => READING.some(name => isSet(kustomization[name]))

/** Whether the value of a field is not empty. */
export const isSet = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0)

/**
 * Reads a kustomization file as kustomize 5.8.1 would. Throws `kustomize-invalid` for what kustomize refuses, and
 * `kustomize-unsupported` with the field's line for what we do not know; with a `rule` where it is forbidden.
 */
export function readKustomization(file: string, directory: string, documents: readonly Node[]): Kustomization {
  const [written, second] = documents
  const start = { repository: '', file, line: 1, column: 1 }
  if (second) invalid(`${file}: more than one document`, second.origin)
  if (written?.type !== 'map') return invalid(`${file}: empty, or not a map`, written?.origin ?? start)
  const root = spellVersion(written)
  checkForbidden(root)
  checkTexts(root)
  refuseOtherFields(root, READ_NAMES, file, KNOWN_NAMES)
  const fields = Object.entries<KustomizationField<unknown>>(FIELDS).map(([name, field]) => [
    name,
    field.read(root, file),
  ])
  refuseEmpty(root, file)
  return { ...(Object.fromEntries(fields) as FieldValues), file, directory }
}

/** Throws `kustomize-invalid` where nothing is set. */
function refuseEmpty(root: MapNode, file: string): void {
  const content = [...root.fields].filter(([name]) => name !== 'apiVersion' && name !== 'kind')
  if (!content.some(([name, field]) => isSetField(name, field.value))) invalid(`${file}: no field is set`, root.origin)
}

/**
 * kustomize calls a file empty when nothing but null (or an empty text) is set; an empty list is something, unless it is
 * to be added to another field.
 */
function isSetField(name: string, value: Node): boolean {
  if (value.type === 'list') return value.items.length > 0 || !OLDER_NAMES.includes(name)
  return value.type !== 'scalar' || (value.value !== null && value.value !== '')
}

/** Fields without which no other is read. */
const HEAD = ['apiVersion', 'kind']

/**
 * Reads a kustomization file without the fields, and the entries of fields, that cannot be read. Throws what
 * readKustomization throws where nothing of it can be.
 */
export function readLeniently(
  file: string,
  directory: string,
  documents: readonly Node[],
  tolerance: Tolerance,
  hides: (part: unknown) => string,
): Kustomization {
  const [root, ...others] = documents
  const read = (node: Node) => readKustomization(file, directory, [node])
  if (root?.type !== 'map') return readKustomization(file, directory, documents)
  refuseEmpty(root, file)
  if (others.length > 0) {
    tolerance.attempt({ effect: 'different', hides: () => hides(others) }, () =>
      readKustomization(file, directory, documents),
    )
  }
  const none: Node = { type: 'list', items: [], origin: root.origin }
  const head = [...root.fields].filter(([name]) => HEAD.includes(name))
  // a list of no resources is something, so that an empty field is not called an empty file
  const resources: readonly [string, Field] = ['resources', { key: root.origin, value: none }]
  const always: MapNode = { ...root, fields: new Map([...head, resources]) }
  read(always)
  const kept = keepReadable(root, always, { read, tolerance, hides })
  return read(kept.fields.has('resources') ? kept : { ...kept, fields: new Map([...kept.fields, resources]) })
}

/** How the parts of a file are read one by one. */
export interface PartReader {
  /** Reads the file as if it had these fields only. Throws what reading it throws. */
  readonly read: (root: MapNode) => void
  readonly tolerance: Tolerance
  /** Text of all that decides what a part would have given. */
  readonly hides: (part: unknown) => string
  /** Stands for the entries before one that fails, so that its position is reported as it is. */
  readonly filler?: (name: string) => Node
}

/** Fields that read or change whatever the kustomization builds hide all that it names. */
const isFar = (name: string): boolean => KNOWN_FIELDS.get(name)?.leftOut?.reach !== undefined

/**
 * The map without the entries of lists, and the fields that are no lists, with which it cannot be read. `always` has the
 * fields that are read beside each of them.
 */
export function keepReadable(root: MapNode, always: MapNode, reader: PartReader): MapNode {
  const { tolerance } = reader
  const fields = new Map<string, Field>()
  for (const [name, field] of root.fields) {
    const { value } = field
    const fails = (some: Field) => tolerance.failureOf(() => reader.read(withOnly(always, name, some))) !== undefined
    if (!fails(field)) fields.set(name, field)
    // where the field itself is unknown, its entries are one part
    else if (value.type !== 'list' || value.items.length === 0 || fails(withItems(field, []))) {
      isKept(name, isFar(name) ? root : value, () => reader.read(withOnly(always, name, field)), reader)
    } else fields.set(name, withItems(field, keepItems(name, field, root, always, reader)))
  }
  const isWhole = [...root.fields].every(([name, field]) => fields.get(name) === field)
  return isWhole ? root : { ...root, fields }
}

function keepItems(name: string, field: Field, root: MapNode, always: MapNode, reader: PartReader): Node[] {
  const { items } = field.value as ListNode
  const { tolerance, filler } = reader
  const read = (some: readonly Node[]) => reader.read(withOnly(always, name, withItems(field, some)))
  const fails = (some: readonly Node[]) => tolerance.failureOf(() => read(some)) !== undefined
  const failing = new Set(failingParts(items, fails, tolerance.enough))
  return items.filter((item, index) => {
    if (!failing.has(item)) return true
    const part = isFar(name) ? [item, root] : item
    const before = filler ? Array<Node>(index).fill(filler(name)) : []
    return isKept(name, part, () => read([...before, item]), reader)
  })
}

function isKept(name: string, part: unknown, step: () => void, { tolerance, hides }: PartReader): boolean {
  const { objects, reach } = KNOWN_FIELDS.get(name)?.leftOut ?? {}
  const effect: Hole['effect'] = objects === 'only' ? 'missing' : 'different'
  const all = () => JSON.stringify([name, hides(part)])
  const affected = {
    ...(objects ? { brings: true as const } : {}),
    ...(reach === 'build' ? { spreads: true as const } : {}),
  }
  return tolerance.attempt({ effect, hides: all, ...affected }, () => [step()]) !== undefined
}

const withOnly = (always: MapNode, name: string, field: Field): MapNode => ({
  ...always,
  fields: new Map(always.fields).set(name, field),
})

const withItems = (field: Field, items: readonly Node[]): Field => ({
  ...field,
  value: { ...field.value, items } as ListNode,
})

const BY_LOWER_CASE = new Map(KNOWN_NAMES.map(name => [name.toLowerCase(), name]))

/**
 * Throws for what a kustomization file may not do, whether or not we support the field it stands in: fetch something
 * (rule `kustomize-remote-base`), inflate charts (`kustomize-helm-inflate`), run plugins (`kustomize-plugin`), hide a
 * field behind another spelling (`kustomize-case-variant-key`).
 */
function checkForbidden(root: MapNode): void {
  checkFetched(root)
  for (const [name, field] of root.fields) {
    if (/^helm/i.test(name)) refuseHelm(name, field.key)
    refuseCaseVariant(name, KNOWN_NAMES, field.key)
  }
  for (const [name, field] of root.fields) KNOWN_FIELDS.get(name)?.forbid?.(field.value)
}

/**
 * Throws for an object of `generators` or `transformers` that is none of kustomize's builtins (rule `kustomize-plugin`),
 * inflates charts, or reads from elsewhere.
 */
export function checkBuiltin(object: Node): void {
  if (object.type !== 'map') return
  const kind = stringAt(object, ['kind']) ?? ''
  if (kind.endsWith('List')) for (const item of itemsOf(at(object, ['items']))) checkBuiltin(item)
  else if (stringAt(object, ['apiVersion']) !== 'builtin') refusePlugin(`the ${kind || 'object'} here`, object.origin)
  if (/^helm/i.test(kind)) refuseHelm(kind, object.origin)
  const annotations = at(object, ['metadata', 'annotations'])
  for (const [name, { key }] of annotations?.type === 'map' ? annotations.fields : []) {
    if (/^config\.(?:kubernetes|k8s)\.io\/function$/.test(name)) refusePlugin(`the annotation ${name}`, key)
  }
  checkPaths(object)
}

const PATHS_IN_BUILTINS = ['path', 'paths', 'files', 'envs', 'env', 'targetfilepath']

function checkPaths(object: MapNode): void {
  for (const name of PATHS_IN_BUILTINS) {
    const value = caseless(object, name)
    checkPath(value)
    for (const item of itemsOf(value)) checkPath(item)
  }
  for (const item of itemsOf(caseless(object, 'replacements'))) checkPath(caseless(item, 'path'))
}

function checkFetched(root: MapNode): void {
  for (const [name, { value }] of root.fields) {
    const field = KNOWN_FIELDS.get(BY_LOWER_CASE.get(name.toLowerCase()) ?? '')
    const mayBePinned = KNOWN_FIELDS.get(name)?.mayBePinned ?? false
    for (const path of field?.paths?.(value) ?? []) if (!mayBePinned || !isPinned(path)) checkPath(path)
  }
}

const isPinned = (node: Node | undefined): boolean =>
  node?.type === 'scalar' && typeof node.value === 'string' && pinnedAddress(node.value) !== undefined

function checkPath(node: Node | undefined): void {
  if (node?.type !== 'scalar' || typeof node.value !== 'string' || node.value.trim().includes('\n')) return
  if (isRemote(node.value)) refuseRemote(node.value, node.origin)
  const equals = node.value.indexOf('=')
  if (equals <= 0) return
  const text = node.value.slice(equals + 1)
  if (isRemote(text)) refuseRemote(text, node.origin)
}
