import { BailiwickError } from '../../errors.ts'
import { isAbsent, withField, writtenText } from '../../kube/edit-node.ts'
import type { Field, MapNode, Node } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { ImageEntry } from '../kustomization.ts'
import { currentId } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { editResource } from './edit-resource.ts'
import { type FieldSpec, specsByKind } from './field-spec.ts'
import { imageMatcher, renameImage } from './image-name.ts'
import { rewriteScalar } from './rewrite-scalar.ts'

type SetImage = (node: Node) => Node

/**
 * Gives images other names, tags and digests: those of every list called `containers` or `initContainers`, wherever it
 * is, and those that a spec leads to (ImageTagTransformer, 5.8.1). Throws `kustomize-invalid` where such a list holds no
 * objects or an image is no text.
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
    return { origin: entry.origin, set: setter(entry) }
  })
  // nothing is ever created here, whatever a spec says
  const specsOf = specsByKind(specs.map(spec => ({ ...spec, create: false })))
  for (const resource of resources.all) {
    const id = currentId(resource)
    if (id.kind === 'CustomResourceDefinition') continue
    const fields = specsOf(id)
    const walks = hasContainers(resource.root)
    for (const { origin, set } of settings) {
      if (walks) resource.root = new Walk(set, origin, budget).node(resource.root) as MapNode
      for (const spec of fields) editResource(resource, spec, origin, node => set(node!), budget)
    }
  }
}

function setter(entry: ImageEntry): SetImage {
  const matches = imageMatcher(entry.name)
  const origin = (entry.digest ?? entry.newTag ?? entry.tagSuffix ?? entry.newName)?.origin ?? entry.origin
  return node => {
    if (node.type !== 'scalar') {
      throw new BailiwickError('kustomize-invalid', 'an image is no text', { origin: node.origin })
    }
    const image = writtenText(node)
    return matches(image) ? rewriteScalar(node, renameImage(image, entry), origin) : node
  }
}

const LISTS = ['containers', 'initContainers']

function hasContainers(node: Node): boolean {
  if (node.type === 'scalar') return false
  if (node.type === 'list') return node.items.some(hasContainers)
  for (const [key, { value }] of node.fields) if (LISTS.includes(key) || hasContainers(value)) return true
  return false
}

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
      const items = node.items.map(item => this.node(item))
      return items.some((item, index) => item !== node.items[index]) ? { ...node, items } : node
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
    const items = list.items.map(item => this.container(item))
    return items.some((item, index) => item !== list.items[index]) ? { ...list, items } : list
  }

  private container(container: Node): Node {
    if (isAbsent(container)) return container
    if (container.type !== 'map') {
      throw new BailiwickError('kustomize-invalid', 'a container is no map', { origin: container.origin })
    }
    const image = container.fields.get('image')?.value
    if (!image) return container
    const value = this.set(image)
    return value === image ? container : withField(container, 'image', value)
  }
}
