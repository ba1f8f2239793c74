import { BailiwickError } from '../../errors.ts'
import { isAbsent, withField, writtenText } from '../../kube/edit-node.ts'
import type { Field, ListNode, MapNode, Node, ScalarNode } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Origin } from '../../origin.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import { specsByKind } from '../resource/field-spec.ts'
import { currentId, type Resource } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { editPlaces } from './edit-resource.ts'
import { type ImageEntry, imageMatcher, renameImage } from './image-name.ts'

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
  // nothing is ever created here, whatever a spec says
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

const UNCREATED = new WeakMap<readonly FieldSpec[], readonly FieldSpec[]>()

function withoutCreating(specs: readonly FieldSpec[]): readonly FieldSpec[] {
  const known = UNCREATED.get(specs) ?? specs.map(spec => ({ ...spec, create: false }))
  UNCREATED.set(specs, known)
  return known
}

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
 * becomes a number. Throws `kustomize-unsupported` for a text that is no value then.
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
