import { BailiwickError } from '../base/errors.ts'
import type { Origin } from '../base/origin.ts'
import type { Tree } from '../git/tree.ts'
import {
  at,
  type Field,
  isAbsent,
  type ListNode,
  type MapNode,
  mapNode,
  type Node,
  type ScalarValue,
  textNode,
  withField,
} from '../kube/node.ts'
import type { Unseen } from '../kube/object.ts'
import { findUnseen, type ParsedFile, parseFile } from '../kube/yaml/parse-documents.ts'
import type { BuildBudget } from '../kustomize/build-budget.ts'
import { type PatchEntry, STRICT, type Tolerance } from '../kustomize/entry.ts'
import { spellVersion } from '../kustomize/fields/build-settings.ts'
import { invalid, isTextInOldYaml, refuseCaseVariant } from '../kustomize/fields/field.ts'
import {
  type Kustomization,
  keepReadable,
  type PartReader,
  readKustomization,
  readLeniently,
} from '../kustomize/fields/kustomization.ts'
import { KNOWN_FIELDS } from '../kustomize/fields/registry.ts'
import { findKustomizationFile, joinPath, KUSTOMIZATION_FILES, refusePointer } from '../kustomize/paths.ts'
import { HiddenText } from '../kustomize/pipeline/hidden-text.ts'
import { mergeSpec, type PathState, wrongType } from './merge-spec.ts'

/**
 * The kustomization that Flux builds for a directory of an artifact: the file that is there, or one that Flux generates,
 * with what the spec of the Flux Kustomization adds. Throws `flux-invalid` and what reading a kustomization throws.
 */
export function fluxOverlay(
  tree: Tree,
  repository: string,
  directory: string,
  kustomization: MapNode,
  budget: BuildBudget,
  tolerance: Tolerance = STRICT,
): Kustomization {
  const spec = at(kustomization, ['spec'])
  if (!isAbsent(spec) && spec.type !== 'map') wrongType(kustomization, ['spec'], 'an object')
  const file = findKustomizationFile(tree, directory, { repository, file: directory, line: 1, column: 1 })
  const origin = at(kustomization, ['spec', 'path'])?.origin ?? kustomization.origin
  const hidden = new HiddenText(tree, budget)
  const parts = { tolerance, hides: (part: unknown) => hidden.of(directory, part) }
  const root = file
    ? readRoot(tree, repository, file, parts)
    : generateRoot(tree, repository, directory, origin, budget)
  const findComponent = (component: string) => find(tree, directory, component)
  const kept = tolerance.isLenient ? keepSpec(kustomization, parts, findComponent) : kustomization
  const merged = mergeSpec(root, kept, findComponent)
  const path = file ?? [directory, 'kustomization.yaml'].filter(Boolean).join('/')
  const overlay = tolerance.isLenient
    ? readLeniently(path, directory, [merged], tolerance, parts.hides)
    : readKustomization(path, directory, [merged])
  const patches = withSteps(overlay.patches, kept)
  const unseen = file ? unseenIn(tree, repository, file) : []
  return { ...overlay, patches, ...(file ? {} : { generated: true }), ...(unseen.length > 0 ? { unseen } : {}) }
}

/** The patches of the spec stand last. */
function withSteps(patches: readonly PatchEntry[], kustomization: MapNode): PatchEntry[] {
  const list = at(kustomization, ['spec', 'patches'])
  const own = patches.length - (list?.type === 'list' ? list.items.length : 0)
  return patches.map((patch, index): PatchEntry => {
    const { file, line } = patch.origin
    return index < own ? patch : { ...patch, step: { step: 'flux-patch', file, line } }
  })
}

function find(tree: Tree, directory: string, component: string): PathState {
  const parts = joinPath(directory, component)
  if (parts === undefined) return 'outside'
  return tree.entry(parts.join('/')) === undefined ? 'absent' : 'there'
}

/** Of the root file, which was read before the build began. */
function unseenIn(tree: Tree, repository: string, file: string): Unseen[] {
  const place = tree.place?.(file) ?? { repository, path: file }
  const text = Buffer.from(tree.read(file)).toString('utf8')
  return findUnseen(text, (line, column) => ({ repository: place.repository, file: place.path, line, column }))
}

/** Lists of texts; all others that are merged are lists of objects. */
const TEXTS = ['components', 'buildMetadata']

/** A Flux Kustomization without the parts of its spec that cannot be merged into a kustomization. */
function keepSpec(
  kustomization: MapNode,
  parts: Pick<PartReader, 'tolerance' | 'hides'>,
  find: (path: string) => PathState,
): MapNode {
  const spec = at(kustomization, ['spec'])
  if (spec?.type !== 'map') return kustomization
  const { origin } = kustomization
  const empty = mapNode([], origin)
  const read = (only: MapNode) => {
    mergeSpec(empty, withField(kustomization, 'spec', only), find)
  }
  const ignore = at(spec, ['ignoreMissingComponents'])
  const always = mapNode(ignore ? [['ignoreMissingComponents', ignore]] : [], origin)
  const filler = (name: string): Node => (TEXTS.includes(name) ? textNode('.', origin) : empty)
  return withField(kustomization, 'spec', keepReadable(spec, always, { ...parts, read, filler }))
}

/**
 * The kustomization file that `spec.path` points at, as Flux writes it back before it builds: its first document, read
 * leniently. Without `resources` Flux asks for origin annotations, so that the file is not called empty.
 */
function readRoot(tree: Tree, repository: string, file: string, { tolerance, hides }: Parts): MapNode {
  const start: Origin = { repository, file, line: 1, column: 1 }
  const bytes = tree.read(file)
  refusePointer(bytes, start)
  const parsed = parseFile(tree.place?.(file) ?? { repository, path: file }, bytes)
  const [written] = parsed.documents
  const document = written?.type === 'map' ? spellVersion(written) : written
  if (parsed.documents.length > 1 || (document && isLater(parsed, document.origin))) {
    const others = parsed.documents.slice(1)
    tolerance.attempt({ effect: 'different', hides: () => hides(others) }, () => refuseSecond(file, start))
  }
  if (document && document.type !== 'map' && !isAbsent(document)) invalid(`${file}: not a map`, document.origin)
  const root = typedRoot(document?.type === 'map' ? readable(document, { tolerance, hides }) : mapNode([], start))
  const versioned =
    document?.type === 'map' && !isAbsent(at(document, ['apiVersion']))
      ? root
      : withField(root, 'apiVersion', textNode('kustomize.config.k8s.io/v1beta1', root.origin))
  return at(versioned, ['resources']) ? versioned : withField(versioned, 'buildMetadata', originAnnotations(start))
}

/** How parts of the file are taken out, and what that hides. */
type Parts = Pick<PartReader, 'tolerance' | 'hides'>

function readable(document: MapNode, parts: Parts): MapNode {
  if (!parts.tolerance.isLenient) return document
  return keepReadable(document, mapNode([], document.origin), { ...parts, read: typedRoot })
}

function refuseSecond(file: string, origin: Origin): never {
  const message = `${file}: more than one document, and Flux reads only the first`
  throw new BailiwickError('flux-unsupported', message, { origin, fix: 'Keep one document in the file.' })
}

function originAnnotations(origin: Origin): ListNode {
  return { type: 'list', items: [textNode('originAnnotations', origin)], origin }
}

/** Whether a document stands behind an empty one; what stands before the first `---` is none if it is only comments. */
function isLater({ pieces, text }: ParsedFile, { line }: Origin): boolean {
  if (pieces === 1) return false
  const before = text.split('\n').slice(0, line - 1)
  const first = before.findIndex(one => one.startsWith('---'))
  const isWritten = (one: string) => !/^\s*(?:#.*)?$/.test(one)
  return (
    first >= 0 && (before.slice(0, first).some(isWritten) || before.slice(first + 1).some(one => one.startsWith('---')))
  )
}

/**
 * The kustomization that Flux writes for a directory without one: every `.yaml` and `.yml` file below it, hidden ones
 * included, in the order of a walk; a directory with a kustomization file of its own is taken as a whole. An empty
 * directory renders nothing. Throws `render-limits` for more entries than `budget` allows.
 */
function generateRoot(tree: Tree, repository: string, directory: string, at: Origin, budget: BuildBudget): MapNode {
  const prefix = directory === '' ? '' : `${directory}/`
  if (tree.entry(`${prefix}kustomization.yaml`)) {
    const origin = { repository, file: `${prefix}kustomization.yaml`, line: 1, column: 1 }
    const message = `${origin.file}: a directory, where Flux generates a file of this name`
    throw new BailiwickError('flux-invalid', message, { origin, fix: 'Rename the directory.' })
  }
  const items = [...manifests(tree, directory, entries => budget.spend('steps', 10 * entries, at))].map(
    (path): Node => {
      const isFile = tree.entry(path)?.type === 'file'
      const origin = isFile ? { repository, file: path, line: 1, column: 1 } : at
      return { ...textNode(`./${path.slice(prefix.length)}`, origin), quoted: true }
    },
  )
  if (items.length === 0) return mapNode([['namespace', textNode('_placeholder', at)]], at)
  return mapNode([['resources', { type: 'list', items, origin: at }]], at)
}

function* manifests(tree: Tree, directory: string, spend: (entries: number) => void): Generator<string> {
  const entries = tree.list(directory)
  spend(entries.length)
  for (const entry of entries) {
    if (entry.type === 'file') {
      if (/\.ya?ml$/.test(entry.name)) yield entry.path
    } else if (entry.type === 'directory') {
      const isOverlay = KUSTOMIZATION_FILES.some(name => tree.entry(`${entry.path}/${name}`)?.type === 'file')
      if (isOverlay) yield entry.path
      else yield* manifests(tree, entry.path, spend)
    }
  }
}

/**
 * A kustomization file as Flux writes it back: decoded leniently into kustomize's structs and encoded again (sigs.k8s.io
 * yaml): numbers and booleans of YAML 1.1 are texts where a text is asked for; what is empty is not written. Fields that the structs
 * do not have Flux drops without a word, where kustomize fails; they are refused, as mistakes. Throws
 * `kustomize-invalid` for other types than asked for, `kustomize-unsupported`, and rule `kustomize-case-variant-key`.
 */
function typedRoot(root: MapNode): MapNode {
  return struct(root, 'Kustomization', true, 'the kustomization')
}

function struct(node: MapNode, name: string, coerces: boolean, where: string): MapNode {
  const types = rootFields(name)
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    const type = types.get(key)
    if (!type) refuseUnknown(key, types, field.key, where)
    else if (!isAbsent(field.value)) {
      const value = convert(field.value, type.value, coerces && type.coerces, `${where}.${key}`)
      if (isWritten(value, type)) fields.set(key, { ...field, value })
    }
  }
  return { ...node, fields }
}

function refuseUnknown(key: string, types: ReadonlyMap<string, RootField>, origin: Origin, where: string): never {
  refuseCaseVariant(key, [...types.keys()], origin)
  const message = `${where}: unknown field ${JSON.stringify(key)}. kustomize fails on it, Flux ignores it`
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Remove or rename the field.' })
}

function convert(node: Node, type: RootType, coerces: boolean, where: string): Node {
  if (type.type === 'any') return node
  if (type.type === 'list') {
    if (node.type !== 'list') return invalid(`${where}: not a list`, node.origin)
    return { ...node, items: node.items.map(item => element(item, type.of, coerces, `${where}[]`)) }
  }
  if (type.type === 'map' || type.type === 'struct') {
    if (node.type !== 'map') return invalid(`${where}: not a map`, node.origin)
    if (type.type === 'struct') return struct(node, type.name, coerces, where)
    const fields = new Map<string, Field>()
    for (const [key, field] of node.fields) {
      fields.set(key, { ...field, value: element(field.value, type.of, coerces, `${where}.${key}`) })
    }
    return { ...node, fields }
  }
  return scalar(node, type.type, coerces, where)
}

/** A null among others is the zero value. */
function element(node: Node, type: RootType, coerces: boolean, where: string): Node {
  if (!isAbsent(node)) return convert(node, type, coerces, where)
  const { origin } = node
  if (type.type === 'string') return textNode('', origin)
  return type.type === 'struct' && !type.optional ? { type: 'map', fields: new Map(), origin } : node
}

function scalar(node: Node, type: 'string' | 'bool' | 'int', coerces: boolean, where: string): Node {
  if (node.type === 'scalar') {
    const { value, text, origin } = node
    if (type === 'bool' && typeof value === 'boolean') return node
    if (type === 'int' && (typeof value === 'bigint' || Number.isInteger(value))) return node
    const old = isTextInOldYaml(node) ? undefined : oldBoolean(value)
    if (type === 'bool' && old !== undefined) return { type: 'scalar', value: old, origin }
    if (type === 'string' && coerces && old !== undefined) return { ...textNode(String(old), origin), quoted: true }
    if (type === 'string' && typeof value === 'string') return node
    const isExact = text === undefined && (typeof value === 'boolean' || Number.isSafeInteger(value))
    if (type === 'string' && coerces && isExact) return { ...textNode(String(value), origin), quoted: true }
  }
  const wanted = { string: 'a quoted string', bool: 'true or false', int: 'a whole number' }
  return invalid(`${where}: wrong type. Allowed: ${wanted[type]}`, node.origin)
}

/** What YAML 1.1 reads in a plain `y` or `off`, which is a text for YAML 1.2. */
function oldBoolean(value: ScalarValue): boolean | undefined {
  return typeof value === 'string' ? /^(?:y|yes|on)$/i.test(value) : undefined
}

function isWritten(value: Node, { value: type, always }: RootField): boolean {
  if (always || type.type === 'any') return true
  if (value.type === 'list') return value.items.length > 0
  if (value.type === 'map') return type.type === 'struct' || value.fields.size > 0
  return value.value !== '' && value.value !== false && value.value !== 0
}

/** A type of kustomize's own file (api/types, 0.21.1), as far as reading and writing it depends on it. */
type RootType =
  | { readonly type: 'string' | 'bool' | 'int' | 'any' }
  | { readonly type: 'list' | 'map'; readonly of: RootType }
  | { readonly type: 'struct'; readonly name: string; readonly optional: boolean }

interface RootField {
  readonly value: RootType
  /** Numbers and booleans become texts, in it and below; not where Go has embedded the struct of the field. */
  readonly coerces: boolean
  /** Written even when it is empty: so is what a pointer to a text points to. */
  readonly always: boolean
}

const ID = 'group:=string version:=string kind:=string name:=string namespace:=string'
const GENERATOR =
  'namespace:=string name:=string behavior:=string literals:=[string files:=[string envs:=[string env:=string ' +
  'options:=*Options'

/** Fields of each struct: `=` for an embedded one, `!` for always written, `[` list, `{` map, `*` pointer. */
const STRUCTS: Readonly<Record<string, string>> = {
  Kustomization: [...KNOWN_FIELDS].map(([name, { goType }]) => `${name}:${goType}`).join(' '),
  Metadata: 'name:string namespace:string labels:{string annotations:{string',
  Label: 'pairs:{string includeSelectors:bool includeTemplates:bool fields:[FieldSpec',
  FieldSpec: 'group:=string version:=string kind:=string path:string create:bool',
  Patch: 'path:string patch:string target:*Selector options:*PatchOptions',
  PatchOptions: 'allowNameChange:bool allowKindChange:bool',
  Selector: `${ID} annotationSelector:string labelSelector:string`,
  Image: 'name:string newName:string tagSuffix:string newTag:string digest:string',
  Replacement: 'source:=*Source targets:=[*Target sourceValue:=*string path:string',
  Source: `${ID} fieldPath:string options:*FieldOptions`,
  Target: 'select:!*Selector reject:[*Selector fieldPaths:[string options:*FieldOptions',
  FieldOptions: 'delimiter:string index:int encoding:string create:bool',
  Replica: 'name:string count:!int',
  SortOptions: 'order:string legacySortOptions:*LegacySort',
  LegacySort: 'orderFirst:![string orderLast:![string',
  ConfigMap: GENERATOR,
  Secret: `${GENERATOR} type:string`,
  Options: 'labels:{string annotations:{string disableNameSuffixHash:bool immutable:bool',
}

const structs = new Map<string, ReadonlyMap<string, RootField>>()

/** The fields of a struct by name. */
function rootFields(name: string): ReadonlyMap<string, RootField> {
  const known = structs.get(name)
  if (known) return known
  const fields = new Map<string, RootField>()
  for (const text of STRUCTS[name]!.split(' ')) {
    const [, key = '', flags = '', code = ''] = /^(\w+):([=!]*)(.+)$/.exec(text) ?? []
    fields.set(key, {
      value: parse(code),
      coerces: !flags.includes('='),
      always: flags.includes('!') || code === '*string',
    })
  }
  structs.set(name, fields)
  return fields
}

function parse(code: string): RootType {
  const rest = code.slice(1)
  if (code.startsWith('[')) return { type: 'list', of: parse(rest) }
  if (code.startsWith('{')) return { type: 'map', of: parse(rest) }
  const isPointer = code.startsWith('*')
  const name = isPointer ? rest : code
  if (name === 'string' || name === 'bool' || name === 'int' || name === 'any') return { type: name }
  return { type: 'struct', name, optional: isPointer }
}
