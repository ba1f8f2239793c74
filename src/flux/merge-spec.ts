import { BailiwickError } from '../base/errors.ts'
import type { Origin, Step } from '../base/origin.ts'
import {
  at,
  type Field,
  isTrue,
  type ListNode,
  type MapNode,
  type Node,
  originAt,
  type Path,
  type ScalarNode,
  stringAt,
  textNode,
  toJson,
  withElement,
  withField,
  withoutField,
} from '../kube/node.ts'

const SELECTOR = ['group', 'version', 'kind', 'name', 'namespace', 'labelSelector', 'annotationSelector']

/**
 * The kustomization with what the spec of a Flux Kustomization adds to it (fluxcd/pkg kustomize, GenerateManifest):
 * namespace, prefix, suffix and build metadata replace those of the file, patches and components come after them, images
 * merge by name. `find` says where a component's path leads to. Throws `flux-invalid` for what the API server refuses.
 */
export function mergeSpec(file: MapNode, kustomization: MapNode, find: (path: string) => PathState): MapNode {
  let root = replaceText(file, kustomization, 'targetNamespace', 'namespace')
  root = replaceText(root, kustomization, 'namePrefix', 'namePrefix')
  root = replaceText(root, kustomization, 'nameSuffix', 'nameSuffix')
  root = append(root, 'patches', patchesOf(kustomization))
  root = append(root, 'components', localComponents(kustomization, find))
  root = append(root, 'patchesStrategicMerge', strategicMergePatches(kustomization))
  root = append(root, 'patchesJson6902', jsonPatches(kustomization))
  root = mergeImages(root, kustomization)
  const metadata = specTexts(kustomization, ['spec', 'buildMetadata'])
  return metadata.length > 0 ? withField(root, 'buildMetadata', listOf(metadata)) : root
}

function replaceText(root: MapNode, kustomization: MapNode, from: string, to: string): MapNode {
  const node = specText(kustomization, ['spec', from])
  if (!node) return root
  if (node.value === '') return withoutField(root, to)
  const quoted = { ...textNode(node.value, throughSpec(node.origin, from)), quoted: true }
  return withField(root, to, quoted, node.origin)
}

function throughSpec(origin: Origin, field: string): Origin {
  if (field !== 'targetNamespace') return origin
  const step: Step = { step: 'flux-target-namespace', file: origin.file, line: origin.line }
  return { ...origin, via: [...(origin.via ?? []), step] }
}

function append(root: MapNode, field: string, items: readonly Node[]): MapNode {
  if (items.length === 0) return root
  const list = at(root, [field])
  return withField(root, field, list?.type === 'list' ? { ...list, items: [...list.items, ...items] } : listOf(items))
}

const listOf = (items: readonly Node[]): ListNode => ({ type: 'list', items, origin: items[0]!.origin })

function patchesOf(root: MapNode): Node[] {
  return specList(root, ['spec', 'patches']).map((_item, index) => {
    const path = ['spec', 'patches', index]
    return withTarget(specObject(root, path, ['patch'], ['target']), root, path)
  })
}

function withTarget(entry: MapNode, root: MapNode, path: Path): MapNode {
  if (!entry.fields.has('target')) return entry
  return withField(entry, 'target', specObject(root, [...path, 'target'], SELECTOR))
}

/** Of older versions of the API: Flux hands each one on as JSON. */
function strategicMergePatches(root: MapNode): Node[] {
  return specList(root, ['spec', 'patchesStrategicMerge']).map((patch, index) => {
    if (patch.type !== 'map') return wrongType(root, ['spec', 'patchesStrategicMerge', index], 'an object')
    return { ...textNode(JSON.stringify(toJson(patch)), patch.origin), quoted: true }
  })
}

function jsonPatches(root: MapNode): Node[] {
  return specList(root, ['spec', 'patchesJson6902']).map((_item, index) => {
    const path = ['spec', 'patchesJson6902', index]
    const entry = withTarget(specObject(root, path, [], ['patch', 'target']), root, path)
    const operations = specList(root, [...path, 'patch']).map((_one, place) =>
      specObject(root, [...path, 'patch', place], ['op', 'path', 'from'], ['value']),
    )
    const text = JSON.stringify(operations.map(toJson))
    return withField(entry, 'patch', { ...textNode(text, entry.origin), quoted: true })
  })
}

const FIELDS = ['name', 'newName', 'newTag', 'digest']

/**
 * `spec.images` merged by name into those of the file. Tag and digest are one unit: setting one clears the other, because
 * an image with both would be pulled by the old digest.
 */
function mergeImages(file: MapNode, kustomization: MapNode): MapNode {
  const items = specList(kustomization, ['spec', 'images'])
  const [first] = items
  if (!first) return file
  const own = at(file, ['images'])
  let list: ListNode = own?.type === 'list' ? own : { type: 'list', items: [], origin: first.origin }
  for (const index of items.keys()) {
    const path = ['spec', 'images', index]
    const image = withoutEmpty(specObject(kustomization, path, FIELDS))
    const name = stringAt(image, ['name']) ?? ''
    const known = list.items.findIndex(item => (stringAt(item, ['name']) ?? '') === name)
    const target = list.items[known]
    if (target?.type === 'map') list = withElement(list, known, merged(target, image))
    else list = { ...list, items: [...list.items, image] }
  }
  return withField(file, 'images', list)
}

function withoutEmpty(image: MapNode): MapNode {
  return FIELDS.reduce((map, field) => (stringAt(map, [field]) === '' ? withoutField(map, field) : map), image)
}

function merged(target: MapNode, image: MapNode): MapNode {
  const copy = (map: MapNode, field: string): MapNode => {
    const own = image.fields.get(field)
    return own ? withField(map, field, own.value, own.key) : withoutField(map, field)
  }
  const renamed = image.fields.has('newName') ? copy(target, 'newName') : target
  const selects = image.fields.has('newTag') || image.fields.has('digest')
  return selects ? copy(copy(renamed, 'newTag'), 'digest') : renamed
}

/** What a path leads to. */
export type PathState = 'there' | 'absent' | 'outside'

const REMOTE = ['git::', 'gh:', 'ssh://', 'https://', 'http://', 'git@', 'github.com:', 'github.com/']

/**
 * `spec.components`, without those that are not there where `spec.ignoreMissingComponents` says so. Throws `flux-invalid`
 * for a path that is not local and relative (IsLocalRelativePath of fluxcd/pkg kustomize), or leads out of the source.
 */
function localComponents(kustomization: MapNode, find: (path: string) => PathState): Node[] {
  const ignoresMissing = isTrue(at(kustomization, ['spec', 'ignoreMissingComponents']))
  return specTexts(kustomization, ['spec', 'components']).flatMap(node => {
    const { value, origin } = node
    if (!isLocal(value)) {
      const identity = `the component ${JSON.stringify(value.slice(0, 200))} is no local and relative path`
      const message = `spec.components: ${JSON.stringify(value.slice(0, 200))} is not a local, relative path`
      const fix = 'Use a directory of the same source, relative to spec.path.'
      const isRemote = !/^(?:file:\/\/)?\//i.test(value)
      const rule = isRemote ? 'kustomize-remote-base' : 'kustomize-path-escape'
      throw new BailiwickError('flux-invalid', message, { origin, rule, fix, identity })
    }
    if (!ignoresMissing) return [node]
    const found = find(value)
    if (found === 'outside') refuseOutside(value, origin)
    return found === 'absent' ? [] : [node]
  })
}

/** It could never be there, so only an attack asks for it to be ignored. */
function refuseOutside(path: string, origin: Origin): never {
  const identity = `the component ${JSON.stringify(path.slice(0, 200))} lies outside of the repository`
  const message = `spec.components: ${JSON.stringify(path.slice(0, 200))} is outside of the repository`
  const fix = 'Use a directory of the same source, relative to spec.path.'
  throw new BailiwickError('flux-invalid', message, { origin, rule: 'kustomize-path-escape', fix, identity })
}

function isLocal(path: string): boolean {
  const lower = path.toLowerCase()
  if (REMOTE.some(prefix => path.length > prefix.length && lower.startsWith(prefix))) return false
  return !path.startsWith('/') && !lower.replace(/^file:\/\//, '').startsWith('/')
}

/** A text that nothing can take for anything else. */
export type TextNode = ScalarNode & { readonly value: string }

/** A list of the spec; absent: none. Throws `flux-invalid`, also for null: the API server takes neither. */
function specList(root: MapNode, path: Path): readonly Node[] {
  const node = at(root, path)
  if (node === undefined) return []
  return node.type === 'list' ? node.items : wrongType(root, path, 'a list')
}

/** A text of the spec, as the node it is; absent: undefined. Throws `flux-invalid`. */
export function specText(root: MapNode, path: Path): TextNode | undefined {
  const node = at(root, path)
  if (node === undefined) return undefined
  if (node.type === 'scalar' && typeof node.value === 'string') return { ...node, value: node.value, quoted: true }
  return wrongType(root, path, 'a string')
}

/** A list of texts of the spec, as nodes. Throws `flux-invalid`. */
function specTexts(root: MapNode, path: Path): TextNode[] {
  return specList(root, path).map((_item, index) => specText(root, [...path, index])!)
}

/** An object in the spec with no other fields than the texts `texts` and the `others`. Throws `flux-invalid`. */
function specObject(root: MapNode, path: Path, texts: readonly string[], others: readonly string[] = []) {
  const node = at(root, path)
  if (node?.type !== 'map') return wrongType(root, path, 'an object')
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    if (texts.includes(key)) fields.set(key, { ...field, value: specText(root, [...path, key])! })
    else if (others.includes(key)) fields.set(key, field)
    else {
      const message = `${shown(path)}: the API server rejects the field ${JSON.stringify(key)}`
      const fix = `Remove the field, or use one of ${[...texts, ...others].join(', ')}.`
      throw new BailiwickError('flux-invalid', message, { origin: field.key, fix })
    }
  }
  return { ...node, fields }
}

/** Throws `flux-invalid` for a field of another type than the API has. */
export function wrongType(root: MapNode, path: Path, allowed: string): never {
  const message = `${shown(path)}: the API server rejects this value. Allowed: ${allowed}`
  throw new BailiwickError('flux-invalid', message, {
    origin: originAt(root, path),
    fix: `Set ${shown(path)} to ${allowed}.`,
  })
}

const shown = (path: Path) => path.map(step => (typeof step === 'number' ? `[${step}]` : step)).join('.')
