import { BailiwickError } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import {
  at,
  type Field,
  isAbsent,
  isEmpty,
  type MapNode,
  type Node,
  textNode,
  withField,
  withoutField,
  writtenText,
} from '../../kube/node.ts'
import { listed } from '../../kube/object.ts'
import type { ParsedFile } from '../../kube/yaml/parse-documents.ts'
import { makeResource, type Resource } from './resource.ts'

/**
 * The objects of one file: empty documents dropped, `kind: *List` replaced by its items (those of a list that is not
 * alone in its file come after everything else, as in kustomize). Throws `invalid-object`, and `render-limits` for a shape
 * on which older versions of kustomize crash (CVE-2022-24878).
 */
export function loadResources(file: ParsedFile, trail: readonly Step[]): Resource[] {
  return loadObjects(file).map(root => {
    const hidden = localConfig(root)
    const step: Step | undefined = hidden && { step: 'local-config', file: hidden.file, line: hidden.line }
    return makeResource(root, step ? [step, ...trail] : trail)
  })
}

/** The same as bare documents; patches are read so, too. */
export function loadObjects(file: ParsedFile): MapNode[] {
  const [only] = file.documents
  const alone = file.pieces === 1 && only?.type === 'map' && ['List', 'ResourceList'].includes(kindOf(only) ?? '')
  const items = alone ? at(only, ['items']) : undefined
  if (alone && only && at(only, ['functionConfig'])) refuse('functionConfig in a list', only.origin)
  const documents = items && !isAbsent(items) ? elementsOf(items) : file.documents
  const kept = keepObjects(alone && items && isAbsent(items) ? [] : documents)
  const objects = inlineLists(items && only?.type === 'map' ? kept.map(object => listed(object, only)) : kept)
  const steered = file.documents.map(document => document.type === 'map' && document.steered).find(Boolean)
  return steered ? objects.map(object => ({ ...object, steered })) : objects
}

function inlineLists(documents: readonly MapNode[]): MapNode[] {
  const result: MapNode[] = []
  const queue = [...documents]
  for (let index = 0; index < queue.length; index++) {
    const document = queue[index]!
    const items = document.fields.get('items')?.value
    if (!kindOf(document)?.endsWith('List') || !items) result.push(document)
    else if (!isAbsent(items)) {
      for (const object of keepObjects(elementsOf(items))) queue.push(listed(canonicalText(object), document))
    }
    if (queue.length > 50_000)
      throw new BailiwickError('render-limits', `${document.origin.file}: more than 50000 objects`, {
        origin: document.origin,
      })
  }
  return result
}

function elementsOf(items: Node): readonly Node[] {
  if (items.type === 'list') return items.items
  return refuse('items that are not a list', items.origin)
}

/** Drops what is empty; the rest must be an object with a kind and, unless a list, a name. */
function keepObjects(documents: readonly Node[]): MapNode[] {
  const kept: MapNode[] = []
  for (const document of documents) {
    if (isEmpty(document)) continue
    if (document.type !== 'map') refuse('a document that is not an object', document.origin, 'render-limits')
    checkIdentity(document)
    kept.push(document)
  }
  return kept
}

function checkIdentity(document: MapNode): void {
  const kind = requireText(document, ['kind'])
  requireText(document, ['apiVersion'])
  if (!kind) refuse('an object without a kind', document.origin)
  const metadata = at(document, ['metadata'])
  if (metadata && !isAbsent(metadata) && metadata.type !== 'map') {
    refuse('metadata that is not a map', metadata.origin, 'render-limits')
  }
  requireText(document, ['metadata', 'namespace'])
  if (!requireText(document, ['metadata', 'name']) && !kind.endsWith('List')) {
    refuse(`a ${kind} without metadata.name`, document.origin)
  }
  for (const field of ['labels', 'annotations']) checkTextMap(document, field)
}

/** kustomize builds it all the same, and a patch may still make it text. */
const ONLY_TEXT = 'Kubernetes allows only text there'

function checkTextMap(document: MapNode, field: string): void {
  const map = at(document, ['metadata', field])
  if (!map || isAbsent(map)) return
  if (map.type !== 'map') refuse(`metadata.${field} that is not a map`, map.origin, 'render-limits')
  for (const [key, { value, key: origin }] of map.fields) {
    if (value.type !== 'scalar') {
      const what = `a value of metadata.${field}["${key}"] that is not a string`
      refuse(what, value.origin, 'invalid-object', ONLY_TEXT)
    }
    if (field === 'annotations' && isBuildAnnotation(key))
      refuse(`the annotation ${key}, which controls kustomize`, origin, 'invalid-object', 'Only kustomize may set it')
  }
}

function requireText(document: MapNode, path: readonly string[]): string | undefined {
  const node = at(document, path)
  if (!node || isAbsent(node)) return undefined
  if (node.type === 'scalar' && typeof node.value === 'string') return node.value
  const what = `a value of ${path.join('.')} that is not a string`
  const isBuilt = node.type === 'scalar' || !['kind', 'name'].includes(path.at(-1)!)
  if (isBuilt) return refuse(what, node.origin, 'invalid-object', ONLY_TEXT)
  // whose kind is not a string is not an object at all
  return refuse(what, node.origin, path.length > 1 ? undefined : 'render-limits')
}

const kindOf = (document: MapNode): string | undefined => {
  const kind = document.fields.get('kind')?.value
  return kind?.type === 'scalar' && typeof kind.value === 'string' ? kind.value : undefined
}

/** Items of a list go through JSON in kustomize, which forgets how a value was written. */
function canonicalText<T extends Node>(node: T): T {
  if (node.type === 'scalar') {
    const quoted = typeof node.value === 'string' ? { quoted: true } : {}
    return { type: 'scalar', value: node.value, origin: node.origin, ...quoted } as T & Node
  }
  if (node.type === 'list') return { ...node, items: node.items.map(canonicalText) }
  const fields = new Map([...node.fields].map(([key, field]) => [key, { ...field, value: canonicalText(field.value) }]))
  return { ...node, fields }
}

function refuse(
  what: string,
  origin: Origin,
  code: 'invalid-object' | 'render-limits' = 'invalid-object',
  built?: string,
): never {
  throw new BailiwickError(code, `${origin.file}: contains ${what}. ${built ?? 'kustomize cannot build it'}`, {
    origin,
    // a shape that kustomize refuses, and not too much of anything
    ...(code === 'render-limits' ? { refused: true } : {}),
    ...(built === undefined ? {} : { refused: false }),
    fix: 'Write one Kubernetes object with apiVersion, kind and metadata.name in each document.',
  })
}

/** The annotation that keeps an object out of what a build gives (any value but `false`); undefined without it. */
export function localConfig(root: MapNode): Origin | undefined {
  const value = at(root, ['metadata', 'annotations', 'config.kubernetes.io/local-config'])
  return value !== undefined && !(value.type === 'scalar' && value.value === 'false') ? value.origin : undefined
}

/**
 * Annotation values as text: kustomize keeps build notes among them and writes all of them back as strings, from what
 * was written (`1.10` stays "1.10"), and names without quotes. An empty map goes. Throws `invalid-object`.
 */
export function annotationsAsText(root: MapNode): MapNode {
  const metadata = root.fields.get('metadata')?.value
  const annotations = metadata?.type === 'map' ? metadata.fields.get('annotations')?.value : undefined
  if (metadata?.type !== 'map' || annotations === undefined) return root
  if (annotations.type !== 'map' && !isAbsent(annotations)) {
    const message = 'metadata.annotations: not a map'
    throw new BailiwickError('invalid-object', message, { origin: annotations.origin, refused: false })
  }
  if (annotations.type !== 'map' || isEmpty(annotations)) {
    return withField(root, 'metadata', withoutField(metadata, 'annotations'))
  }
  const fields = new Map<string, Field>()
  for (const [key, { key: keyOrigin, value }] of annotations.fields) {
    if (value.type !== 'scalar') {
      const message = `metadata.annotations: ${key} is not a string`
      throw new BailiwickError('invalid-object', message, { origin: value.origin, refused: false })
    }
    fields.set(key, { key: keyOrigin, value: textNode(writtenText(value), value.origin) })
  }
  return withField(root, 'metadata', withField(metadata, 'annotations', { ...annotations, fields }))
}

const BUILD_ANNOTATION =
  /^(?:internal\.config\.kubernetes\.io\/|config\.(?:kubernetes|k8s)\.io\/(?:index|path|id)$)|^config\.kubernetes\.io\/origin$|^alpha\.config\.kubernetes\.io\/|^helm\.kustomize\./

/** Whether kustomize keeps notes of its own under this annotation, so that one who sets it steers the build itself. */
export function isBuildAnnotation(key: string): boolean {
  return BUILD_ANNOTATION.test(key)
}
