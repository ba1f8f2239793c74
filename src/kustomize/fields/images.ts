import { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { containsPattern } from '../../expr/regexp/pattern.ts'
import {
  type Field,
  isAbsent,
  type ListNode,
  type MapNode,
  type Node,
  type ScalarNode,
  withField,
  writtenText,
} from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { Entry } from '../entry.ts'
import { editPlaces, type FieldSpec, specsByKind } from '../resource/field-spec.ts'
import { currentId, type Resource } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { listField, refuseOtherFields, structNode, type TransformingField, textField } from './field.ts'

const IMAGE_PARTS = ['name', 'newName', 'newTag', 'digest', 'tagSuffix'] as const

export const images: TransformingField<readonly ImageEntry[]> = {
  olderNames: ['imageTags'],
  goType: '[Image',
  effect: 'changes',
  toEach: true,
  read: root => [...listField(root, 'images'), ...listField(root, 'imageTags')].map(readImage),
  apply: (resources, entries, { config, budget }) => setImages(resources, entries, config.images, budget),
  docs: {
    built: 'all fields; every `containers` and `initContainers`, and image volumes',
    refused: 'a `name` with a regular expression that `patches` does not support either',
  },
}

/** One entry of `images`. Throws `kustomize-invalid` for what kustomize would not decode. */
export function readImage(node: Node): ImageEntry {
  const entry = structNode(node, 'images[]')
  refuseOtherFields(entry, IMAGE_PARTS, 'images')
  const parts = IMAGE_PARTS.map(name => [name, textField(entry, name)] as const)
  return { origin: entry.origin, ...Object.fromEntries(parts.filter(([, part]) => part?.text)) }
}

type SetImage = (node: Node) => Node

/**
 * Gives images other names, tags and digests: those of every list called `containers` or `initContainers`, wherever it
 * is, and those that a spec leads to (ImageTagTransformer, 5.8.1). Throws `kustomize-invalid` where such a list holds no
 * objects or an image is not a string.
 */
export function setImages(
  resources: ResourceList,
  entries: readonly ImageEntry[],
  specs: readonly FieldSpec[],
  budget: BuildBudget,
): void {
  if (entries.length === 0) return
  const settings = entries.map(entry => {
    budget.spendOnEach(resources.all, entry.origin)
    const matches = imageMatcher(entry.name, budget)
    return { origin: entry.origin, matches, set: setter(entry, matches) }
  })
  // the `create` of a spec never applies here
  const specsOf = specsByKind(withoutCreating(specs))
  for (const resource of resources.all) {
    const id = currentId(resource)
    if (id.kind === 'CustomResourceDefinition') continue
    const fields = specsOf(id)
    let found: string[] | undefined
    for (const { origin, matches, set } of settings) {
      // looked for only once something may have changed them
      found ??= imagesOf(resource, fields, budget, origin)
      if (!found.some(matches)) continue
      resource.overwrite(new Walk(set, origin, budget).node(resource.root) as MapNode)
      editPlaces(resource, fields, origin, node => set(node!), budget)
      found = undefined
    }
  }
}

const withoutCreating = oncePer((specs: readonly FieldSpec[]): readonly FieldSpec[] =>
  specs.map(spec => ({ ...spec, create: false })),
)

/** Every image that an entry could set. */
function imagesOf(resource: Resource, fields: readonly FieldSpec[], budget: BuildBudget, origin: Origin): string[] {
  const found: string[] = []
  const note = (node: Node): Node => {
    found.push(imageText(node))
    return node
  }
  new Walk(note, origin, budget).node(resource.root)
  editPlaces(resource, fields, origin, node => note(node!), budget)
  return found
}

function imageText(node: Node): string {
  if (node.type === 'scalar') return writtenText(node)
  throw new BailiwickError('kustomize-invalid', 'image: not a string', { origin: node.origin })
}

function setter(entry: ImageEntry, matches: (image: string) => boolean): SetImage {
  const origin = (entry.digest ?? entry.newTag ?? entry.tagSuffix ?? entry.newName)?.origin ?? entry.origin
  return node => {
    const image = imageText(node)
    return matches(image) ? rewriteScalar(node as ScalarNode, renameImage(image, entry), origin) : node
  }
}

const LISTS = ['containers', 'initContainers']

/** Everything in an object, with the images of containers set; what does not change stays the same node. */
class Walk {
  private readonly set: SetImage
  private readonly origin: Origin
  private readonly budget: BuildBudget

  constructor(set: SetImage, origin: Origin, budget: BuildBudget) {
    this.set = set
    this.origin = origin
    this.budget = budget
  }

  node(node: Node): Node {
    if (node.type === 'scalar') return node
    if (node.type === 'list') {
      this.budget.spend('steps', node.items.length >> 3, this.origin)
      return this.items(node, item => this.node(item))
    }
    this.budget.spend('steps', node.fields.size >> 3, this.origin)
    let fields: Map<string, Field> | undefined
    for (const [key, field] of node.fields) {
      const walked = this.node(field.value)
      const value = LISTS.includes(key) ? this.containers(walked) : walked
      if (value === field.value) continue
      fields ??= new Map(node.fields)
      fields.set(key, { ...field, value })
    }
    return fields ? { ...node, fields } : node
  }

  private containers(list: Node): Node {
    if (list.type !== 'list') return list
    return this.items(list, item => this.container(item))
  }

  private items(list: ListNode, edit: (item: Node) => Node): ListNode {
    let items: Node[] | undefined
    for (const [index, item] of list.items.entries()) {
      const edited = edit(item)
      if (edited === item) continue
      items ??= [...list.items]
      items[index] = edited
    }
    return items ? { ...list, items } : list
  }

  private container(container: Node): Node {
    if (isAbsent(container)) return container
    if (container.type !== 'map') {
      throw new BailiwickError('kustomize-invalid', 'containers: an item is not a map', { origin: container.origin })
    }
    const image = container.fields.get('image')?.value
    if (!image) return container
    const value = this.set(image)
    return value === image ? container : withField(container, 'image', value)
  }
}

/**
 * Another text where `before` stands. kustomize keeps how the value was written, so where there were no quotes `12`
 * becomes a number. Throws `kustomize-unsupported` for a text that is not a value then.
 */
function rewriteScalar(before: ScalarNode | undefined, text: string, origin: Origin): ScalarNode {
  if (before?.quoted) return { type: 'scalar', value: text, origin, quoted: true }
  if (before?.style) return { type: 'scalar', value: text, origin, style: before.style }
  const value = resolvePlain(text)
  if (value === undefined) {
    throw new BailiwickError('kustomize-unsupported', `${JSON.stringify(text)}: not a valid YAML value`, { origin })
  }
  // until the object is written, what will be null is a text for kustomize
  if (value === null) return { type: 'scalar', value: text, origin, untyped: true }
  return { type: 'scalar', value, origin, untyped: true, ...(String(value) === text ? {} : { text }) }
}

/** One entry of `images`: what images of that name become. */
export interface ImageEntry {
  readonly origin: Origin
  /** A regular expression, because kustomize does not escape it. */
  readonly name?: Entry
  readonly newName?: Entry
  readonly newTag?: Entry
  readonly digest?: Entry
  readonly tagSuffix?: Entry
}

const TAG = '(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?'

/**
 * Whether an image is one of those that an entry names: kustomize puts the name into a regular expression as it is, so a
 * dot stands for any character. Throws for an expression that Go refuses, where kustomize crashes.
 */
function imageMatcher(name: Entry | undefined, budget: BuildBudget): (image: string) => boolean {
  const text = name?.text ?? ''
  if (/^[\w./:@-]*$/.test(text)) {
    const pattern = new RegExp(`^${text.replaceAll('.', '[^\\n]')}${TAG}$`, 'u')
    return image => pattern.test(image)
  }
  // a | in the name makes its ^ and $ count for a part only
  const searched = { text: `^${text}${TAG}$`, origin: name!.origin }
  return image => containsPattern(searched, image, budget)
}

/** An image reference with the parts of it replaced that `entry` gives; a tag replaces a digest and the reverse. */
function renameImage(image: string, entry: ImageEntry): string {
  const { newTag, digest, tagSuffix } = entry
  const parts = splitImage(image)
  if (newTag || digest) {
    parts.tag = newTag?.text ?? ''
    parts.digest = digest?.text ?? ''
  } else if (tagSuffix) {
    parts.tag += tagSuffix.text
    parts.digest = ''
  }
  const name = entry.newName?.text ?? parts.name
  return `${name}${parts.tag && `:${parts.tag}`}${parts.digest && `@${parts.digest}`}`
}

/** `host:port/name:tag@digest`: what comes before the first slash is a host (api/internal/image, 5.8.1). */
function splitImage(image: string): { name: string; tag: string; digest: string } {
  const slash = Math.max(image.indexOf('/'), 0)
  const at = image.indexOf('@', slash)
  const colon = image.indexOf(':', slash)
  if (at < 0 && colon < 0) return { name: image, tag: '', digest: '' }
  if (at >= 0 && (at < colon || colon < 0)) return { name: image.slice(0, at), tag: '', digest: image.slice(at + 1) }
  const end = at < 0 ? image.length : at
  return { name: image.slice(0, colon), tag: image.slice(colon + 1, end), digest: at < 0 ? '' : image.slice(at + 1) }
}
