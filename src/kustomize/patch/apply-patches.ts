import { BailiwickError } from '../../base/errors.ts'
import { probably } from '../../base/name-list.ts'
import type { Origin, Step } from '../../base/origin.ts'
import {
  at,
  canonical,
  isAbsent,
  isEmpty,
  type MapNode,
  type Node,
  originAt,
  type ScalarNode,
  stringAt,
  textNode,
  through,
  withField,
  withoutField,
  withValueAt,
  writtenText,
} from '../../kube/node.ts'
import { type ParsedFile, parseText } from '../../kube/yaml/parse-documents.ts'
import { isSpecialText } from '../../kube/yaml/resolve-scalar.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { PatchEntry } from '../entry.ts'
import { annotationsAsText, loadObjects } from '../resource/load-resources.ts'
import { describe, IDENTITY, idOfRoot, NO_NAMESPACE, type Resource, type ResourceId } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { fromPlain, toPlain } from '../resource/round-trip.ts'
import { select } from '../select/select.ts'
import { applyJsonPatch, type JsonPatchOperation, readJsonPatch } from './json-patch.ts'
import { strategicMerge } from './strategic-merge.ts'

/**
 * Applies one entry of `patches`, and returns to how many objects. Throws `kustomize-invalid` where kustomize does; a target
 * without match is fine.
 */
export function applyPatch(resources: ResourceList, entry: PatchEntry, patch: Patch, budget: BuildBudget): number {
  if (patch.type === 'json') return applyJson(resources, entry, patch, budget)
  const { target } = entry
  if (!target) {
    for (const object of patch.objects) mergeByIdentity(resources, object, { ...entry, asTarget: false }, budget)
    return patch.objects.length
  }
  const [object, second] = patch.objects
  if (second) fail('patches: a patch with a target has more than one document. Allowed: one', entry.origin)
  const selected = new Set(select(resources.all, target, budget))
  if (!object) return selected.size
  for (const resource of selected) spendOn(budget, resource, object)
  // the patch stands for the target's kind, so it can neither rename nor move it
  const kept = resources.all.filter(
    resource => !selected.has(resource) || mergeInto(resource, object, entry, true, budget),
  )
  resources.reset(kept)
  return selected.size
}

/** Applies a patch to the object that it names itself; there must be exactly one. */
export function mergeByIdentity(resources: ResourceList, patch: MapNode, options: Changes, budget: BuildBudget): void {
  const id = idOfRoot(patch)
  const found = resources.findByAnyId(id)
  const [target, second] = found
  if (!target) {
    const other = resources.all.find(one => isOtherVersion(idOfRoot(one.root), id))
    if (!other) refuseUnmatched(resources, id, patch.origin)
    const { version } = idOfRoot(other.root)
    const message = `patch: matches no ${describe(id)}, because the object has version ${version}, the patch ${id.version}`
    const refuse = () => fail(message, originAt(other.root, ['apiVersion']), 'Set the same apiVersion in both.')
    resources.tolerance.attempt({ effect: 'different', hides: () => canonical(patch), depends: true }, refuse)
    // merged all the same: what else is wrong then is not because the patch is missing
    mergeInto(other, patch, options, true, budget)
    return
  }
  if (second) fail(`patch: matches more than one ${describe(id)}`, patch.origin)
  spendOn(budget, target, patch)
  if (!mergeInto(target, patch, options, options.asTarget ?? false, budget)) resources.remove(target)
  else if (options.asTarget) resources.checkUnique()
}

function refuseUnmatched(resources: ResourceList, id: ResourceId, origin: Origin): never {
  const { kind, name, namespace } = id
  const where = namespace === NO_NAMESPACE ? '' : ` in namespace ${JSON.stringify(namespace)}`
  const alike = resources.all.map(one => one.current).filter(one => one.kind === kind)
  const near = alike.filter(one => one.namespace === namespace).map(one => one.name)
  const elsewhere = alike.find(one => one.name === name)?.namespace
  const meant = elsewhere === undefined ? probably(name, near) : `${name}" in namespace "${elsewhere}`
  fail(
    `patch: matches no ${kind} named ${JSON.stringify(name)}${where}`,
    origin,
    meant === undefined ? 'Correct the kind, name or namespace in the patch.' : `Did you mean "${meant}"?`,
  )
}

/** Whether two objects are the same but for the version of their group. */
const isOtherVersion = (one: ResourceId, other: ResourceId): boolean =>
  one.version !== other.version && describe(one) === describe(other) && one.group === other.group

interface Changes {
  /** Whether the patch is prepared as for a selected target; `patchesStrategicMerge` does that with all of its patches. */
  readonly asTarget?: boolean
  readonly allowNameChange: boolean
  readonly allowKindChange: boolean
}

/** A patch for a selected object takes its apiVersion; its labels and annotations become plain text, whatever they are. */
function patchFor(object: MapNode, patch: MapNode): MapNode {
  const apiVersion = at(object, ['apiVersion'])
  if (!apiVersion) {
    const message = 'patch: the target object has no apiVersion, and kustomize sets it to null'
    throw new BailiwickError('kustomize-unsupported', message, {
      origin: patch.origin,
      fix: 'Set apiVersion in the object.',
    })
  }
  let result = withField(patch, 'apiVersion', apiVersion)
  for (const field of ['labels', 'annotations']) {
    const metadata = at(result, ['metadata'])
    if (metadata?.type !== 'map') continue
    const map = metadata.fields.get(field)?.value
    if (map === undefined) continue
    const fields = map.type === 'map' ? [...map.fields] : []
    const texts = fields.map(([key, { key: origin, value }]) => [key, { key: origin, value: asText(value) }] as const)
    const changed =
      texts.length === 0
        ? withoutField(metadata, field)
        : withField(metadata, field, { type: 'map', fields: new Map(texts), origin: map.origin })
    result = withField(result, 'metadata', changed)
  }
  return result
}

const asText = (node: Node): Node => textNode(writtenText(node), node.origin)

/** Merges in place; false where the patch deletes the object. Name, kind and namespace stay, unless allowed. */
function mergeInto(
  resource: Resource,
  patch: MapNode,
  options: Changes,
  forTarget: boolean,
  budget: BuildBudget,
): boolean {
  const before = resource.root
  refuseSteering(before.steered ?? patch.steered)
  if (options.allowNameChange || options.allowKindChange) resource.remember()
  const spend = (steps: number): void => budget.spend('steps', steps, patch.origin)
  const merged = strategicMerge(before, forTarget ? patchFor(before, patch) : patch, spend)
  if (!merged || merged.fields.size === 0) return false
  let root = merged
  if (!options.allowKindChange) root = restore(root, before, ['kind'])
  if (!options.allowNameChange) root = restore(root, before, ['metadata', 'name'])
  resource.root = restoreNamespace(root, before)
  return true
}

function refuseSteering(comment: Origin | undefined): void {
  if (!comment) return
  const message = 'patch: a comment is a JSON object, which changes how kustomize merges the patch'
  throw new BailiwickError('yaml-ambiguous', message, { origin: comment, fix: 'Remove the comment or its braces.' })
}

function restore(root: MapNode, before: MapNode, path: readonly string[]): MapNode {
  const value = at(before, path)
  if (!value) return root
  checkRestored(value, path)
  return at(root, path) === value ? root : withValueAt(root, path, value)
}

/** kustomize writes it anew, without a type but in the quotes that it had. */
function checkRestored(node: Node, path: readonly string[]): void {
  if (node.type !== 'scalar' || node.quoted || node.style || !isSpecialText(writtenText(node))) return
  const message = `patch: after it, ${path.join('.')} is not a string`
  throw new BailiwickError('kustomize-unsupported', message, { origin: node.origin, fix: 'Choose another value.' })
}

function restoreNamespace(root: MapNode, before: MapNode): MapNode {
  const path = ['metadata', 'namespace']
  if (stringAt(before, path)) return restore(root, before, path)
  const metadata = at(root, ['metadata'])
  if (metadata?.type !== 'map' || !metadata.fields.has('namespace')) return root
  return withField(root, 'metadata', withoutField(metadata, 'namespace'))
}

function spendOn(budget: BuildBudget, resource: Resource, patch: MapNode): void {
  budget.spendOnMerge(resource.root, patch.origin)
  budget.spendOnMerge(patch, patch.origin)
}

function applyJson(
  resources: ResourceList,
  entry: PatchEntry,
  patch: Patch & { type: 'json' },
  budget: BuildBudget,
): number {
  if (!entry.target) fail('patches: a JSON6902 patch has no target', entry.origin)
  const selected = select(resources.all, entry.target, budget)
  for (const resource of selected) resource.remember()
  applyOperations(selected, patch.operations, entry.origin, budget)
  return selected.length
}

/** Applies JSON6902 operations to each of these objects. Throws `kustomize-invalid` where one does not fit. */
export function applyOperations(
  selected: readonly Resource[],
  operations: readonly JsonPatchOperation[],
  origin: Origin,
  budget: BuildBudget,
): void {
  for (const resource of selected) {
    budget.spendOnMerge(resource.root, origin)
    budget.spend('steps', 20 + operations.length * 10, origin)
    const before = toPlain(hasNotes(resource) ? withAnnotations(resource.root, origin) : resource.root)
    resource.root = annotationsAsText(fromPlain(applyJsonPatch(before, operations, budget)))
    checkIdentity(resource.root, origin)
  }
}

/** kustomize keeps what it notes of an object among its annotations, so that it has some even where it has none. */
function hasNotes(resource: Resource): boolean {
  return resource.previous.length > 0 || resource.trail.some(({ step }) => step === 'generator')
}

function withAnnotations(root: MapNode, origin: Origin): MapNode {
  const path = ['metadata', 'annotations']
  return isAbsent(at(root, path)) ? withValueAt(root, path, { type: 'map', fields: new Map(), origin }) : root
}

/** An object may lose its apiVersion and its namespace, and nothing else of what names it. */
function checkIdentity(root: MapNode, origin: Origin): void {
  for (const path of IDENTITY) {
    const node = at(root, path)
    if (node?.type === 'scalar' && typeof node.value === 'string') continue
    const needed = path.at(-1) === 'kind' || path.at(-1) === 'name'
    if (!needed && node === undefined) continue
    const message = `patch: after it, ${path.join('.')} is not a string`
    const code = needed && isAbsent(node) ? 'kustomize-invalid' : 'kustomize-unsupported'
    throw new BailiwickError(code, message, { origin: node?.origin ?? origin })
  }
}

function fail(message: string, origin: Origin, fix?: string): never {
  throw new BailiwickError('kustomize-invalid', message, { origin, fix })
}

type Patch =
  | { readonly type: 'merge'; readonly objects: readonly MapNode[] }
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }

/** Tells a strategic merge patch from a JSON6902 one as kustomize does; every value came through `step`. */
export function readPatchFile(file: ParsedFile, step: Step): Patch {
  const first = file.documents.find(document => !isEmpty(document))
  if (first?.type !== 'list') {
    const objects = loadObjects(file).map(object => through(object, step) as MapNode)
    return { type: 'merge', objects }
  }
  return { type: 'json', operations: readOperations(file, step) }
}

/**
 * The operations of a text that has to be a JSON6902 patch: its first document, whatever comes after it. Throws
 * `kustomize-invalid` for anything else.
 */
export function readOperations(file: ParsedFile, step: Step): JsonPatchOperation[] {
  const [first] = file.documents
  if (first?.type !== 'list') {
    const message = 'patch: a JSON6902 patch is not a list of operations'
    throw new BailiwickError('kustomize-invalid', message, { origin: first?.origin ?? { ...START, ...step } })
  }
  if (/^(?:---.*\n\s*(?:#.*\n\s*)*){2}/.test(file.text.replace(/^(?:\s*#.*\n|\s*\n)+/, ''))) {
    const message = 'patch: a JSON6902 patch after an empty document, which kustomize ignores'
    throw new BailiwickError('kustomize-unsupported', message, { origin: first.origin })
  }
  const json = file.text.startsWith('[')
  if (json) checkJson(file.text, first.origin)
  return readJsonPatch(through(first, step) as typeof first, json)
}

const START = { repository: '', column: 1 }

/** Text that starts with `[` is read as JSON, not as YAML. */
function checkJson(text: string, origin: Origin): void {
  try {
    JSON.parse(text)
  } catch {
    const message = 'patch: starts with [, but is not valid JSON'
    throw new BailiwickError('kustomize-invalid', message, { origin })
  }
}

/** Parses a patch that stands inside another file, of which kustomize forgets the space around it. */
export function parseInline(node: ScalarNode): ParsedFile {
  return parseFrom(node, trimLikeGo(String(node.value)))
}

/** The same for one that is taken as it stands. */
export function parseWhole(node: ScalarNode): ParsedFile {
  return parseFrom(node, String(node.value))
}

/** Lines of a literal block (`patch: |`) keep their own line and column; other styles point at the start of the text. */
function parseFrom(node: ScalarNode, text: string): ParsedFile {
  const { origin } = node
  if (node.style !== 'literal') return parseText(text, () => origin)
  const whole = String(node.value)
  const skipped = whole.slice(0, whole.indexOf(text)).split('\n').length - 1
  const indent = node.indent ?? 0
  return parseText(text, (line, column) => ({ ...origin, line: origin.line + skipped + line, column: column + indent }))
}

function trimLikeGo(text: string): string {
  return text.replace(/^[\s\u0085]+|[\s\u0085]+$/g, '')
}
