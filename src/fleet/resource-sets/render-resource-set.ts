import { BailiwickError } from '../../errors.ts'
import { OPERATOR_GROUP, RESOURCE_SET } from '../../flux/kinds.ts'
import { overrideMetadata } from '../../flux/override-metadata.ts'
import { readObjects } from '../../flux/read-objects.ts'
import { at, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import type { Origin } from '../../origin.ts'
import { filled, fillResource, NotRendered, type Steps } from './fill-resource.ts'
import { type Inputs, inlineInputs } from './inputs.ts'
import { hasTemplate, readTemplate } from './template.ts'

/** What the Flux Operator makes of a ResourceSet, as far as that is known here. */
export interface RenderedSet {
  readonly objects: readonly KubeObject[]
  /** Parts that are not rendered: where each stands, and why. */
  readonly left: readonly LeftPart[]
}

interface LeftPart {
  readonly at: string
  readonly why: string
  /** What stands there; absent where its objects are known, and only the data of one is not. */
  readonly part?: Node
}

/** Values of one ResourceSet that are filled in, over all of its sets of inputs. */
const MAX_STEPS = 200_000
const MAX_TEXT = 4 * 1024 * 1024
const MAX_OBJECTS = 5_000
const RECONCILE = `${OPERATOR_GROUP}/reconcile`
const NOTHING: Inputs = () => undefined

/** Annotations by which the operator fills the data of an object from another one. */
const COPYING = [`${OPERATOR_GROUP}/copyFrom`, `${OPERATOR_GROUP}/convertKubeConfigFrom`]

/** Whether the data of an object is copied into it on the cluster. */
export function isCopied({ root }: KubeObject): boolean {
  return COPYING.some(name => at(root, ['metadata', 'annotations', name]) !== undefined)
}

const known = new WeakMap<KubeObject, RenderedSet>()

/** Whether an object is a ResourceSet. */
function isResourceSet(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return `${groupOf(apiVersion)}/${kind}` === RESOURCE_SET
}

const found = new WeakMap<readonly KubeObject[], readonly KubeObject[]>()

/** The ResourceSets among objects; the same list is searched only once. */
export function setsIn(objects: readonly KubeObject[]): readonly KubeObject[] {
  const sets = found.get(objects) ?? objects.filter(isResourceSet)
  found.set(objects, sets)
  return sets
}

/**
 * The objects that a ResourceSet makes: those that are written out, and templates that have only fields of inputs that
 * stand in it. Functions, conditions and inputs of providers are named as left. Pure; nothing is thrown.
 * Source: flux-operator, internal/builder/resourceset.go and internal/inputs.
 */
export function renderResourceSet(set: KubeObject): RenderedSet {
  const before = known.get(set)
  if (before) return before
  const rendering = new Rendering(set)
  for (const part of partsOf(set.root)) rendering.add(part)
  const rendered = rendering.end()
  known.set(set, rendered)
  return rendered
}

interface Part {
  readonly at: string
  /** Index of the step that it stands in. */
  readonly step: number
  readonly node: Node
  readonly isText: boolean
}

/** Resources win over those of the template beside them. */
function partsOf(root: MapNode): Part[] {
  const steps = at(root, ['spec', 'steps'])
  const places = [
    { name: 'spec', node: at(root, ['spec']) },
    ...(steps?.type === 'list' ? steps.items.map((node, index) => ({ name: `spec.steps[${index}]`, node })) : []),
  ]
  return places.flatMap(({ name, node }, step) => {
    const resources = at(node, ['resources'])
    const template = at(node, ['resourcesTemplate'])
    return [
      ...(resources?.type === 'list'
        ? resources.items.map((item, index) => ({ at: `${name}.resources[${index}]`, step, node: item, isText: false }))
        : []),
      ...(template && stringAt(template, []) !== ''
        ? [{ at: `${name}.resourcesTemplate`, step, node: template, isText: true }]
        : []),
    ]
  })
}

class Rendering {
  readonly #set: KubeObject
  readonly #inputs: readonly Inputs[]
  readonly #hasProviders: boolean
  readonly #isPermuted: boolean
  readonly #objects: KubeObject[] = []
  /** Steps by the identity of their objects. */
  readonly #steppedIn = new Map<string, number>()
  readonly #left: LeftPart[] = []
  readonly #steps: Steps = { left: MAX_STEPS }
  #text = MAX_TEXT

  constructor(set: KubeObject) {
    this.#set = set
    this.#inputs = inlineInputs(set)
    const providers = at(set.root, ['spec', 'inputsFrom'])
    this.#hasProviders = providers?.type === 'list' && providers.items.length > 0
    const strategy = stringAt(set.root, ['spec', 'inputStrategy', 'name']) ?? 'Flatten'
    this.#isPermuted = strategy !== 'Flatten' && strategy !== ''
  }

  add(part: Part): void {
    const { at: place, node, isText } = part
    try {
      const made = isText ? this.#ofText(node) : this.#ofResource(node)
      for (const object of made) this.#take(object, part)
      if (made.some(isCopied)) this.#left.push({ at: place, why: 'the cluster fills its data (copyFrom)' })
    } catch (error) {
      if (!(error instanceof NotRendered)) throw error
      this.#left.push({ at: place, why: error.message, part: node })
    }
  }

  end(): RenderedSet {
    const providers = at(this.#set.root, ['spec', 'inputsFrom'])
    if (this.#hasProviders && providers) {
      const why = 'only the cluster has the inputs of its providers'
      this.#left.push({ at: 'spec.inputsFrom', why, part: providers })
    }
    try {
      return { objects: overrideMetadata(this.#objects, this.#set.root) as KubeObject[], left: this.#left }
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      return { objects: [], left: [{ at: 'spec.commonMetadata', why: error.message, part: this.#set.root }] }
    }
  }

  /** What is written out is the same for every set of inputs. */
  #ofResource(node: Node): KubeObject[] {
    if (node.type !== 'map') throw new NotRendered('it is not an object')
    const trail = this.#set.trail
    if (!holdsTemplate(node, this.#steps)) return [{ root: node, trail }]
    return this.#sets().map(inputs => ({ root: fillResource(node, inputs, this.#steps), trail }))
  }

  #ofText(node: Node): KubeObject[] {
    const text = stringAt(node, [])
    if (text === undefined || (node.type === 'scalar' && node.opaque)) throw new NotRendered('its template is unknown')
    const { origin } = node
    if (!hasTemplate(text)) return this.#parsed(text, origin)
    const pieces = readTemplate(text)
    if (!pieces) throw new NotRendered('it uses template functions other than input fields')
    return this.#sets().flatMap(inputs => {
      const whole = filled(pieces, inputs)
      if (whole.opaque.length > 0) throw new NotRendered('only the cluster has one of its input values')
      return this.#parsed(whole.text, origin)
    })
  }

  #sets(): readonly Inputs[] {
    if (this.#isPermuted) throw new NotRendered('its input strategy is Permute')
    if (this.#inputs.length > 0) return this.#inputs
    if (this.#hasProviders) throw new NotRendered('only the cluster has its inputs')
    return [NOTHING]
  }

  #parsed(text: string, origin: Origin): KubeObject[] {
    this.#text -= text.length
    if (this.#text < 0) throw new NotRendered('its input sets exceed the evaluation limit (render-limits)')
    try {
      const made = parseText(text, () => origin).documents.map(root => {
        if (root.type !== 'map') throw new NotRendered('it is not a list of objects')
        return { root, trail: this.#set.trail }
      })
      return readObjects(made)
    } catch (error) {
      if (error instanceof BailiwickError) throw new NotRendered(`its output is not valid: ${error.message}`)
      throw error
    }
  }

  /** Of one object that is there twice in a step, the first counts; without inputs the operator applies both. */
  #take(object: KubeObject, { step, isText }: Part): void {
    const { apiVersion, kind, namespace, name } = idOf(object)
    if (kind === '' || name === '') throw new NotRendered('one of its objects has no kind or name')
    const hasInputs = this.#inputs.length > 0 || this.#hasProviders
    const isOff = stringAt(object.root, ['metadata', 'annotations', RECONCILE]) === 'disabled'
    // without inputs the operator does not look
    if (isOff && hasInputs) return
    const key = [groupOf(apiVersion), kind, namespace, name].join('\0')
    const before = this.#steppedIn.get(key)
    if (before === step && (hasInputs || isText)) return
    if (this.#objects.length >= MAX_OBJECTS)
      throw new NotRendered(`it makes more than ${MAX_OBJECTS} objects (render-limits)`)
    this.#steppedIn.set(key, step)
    this.#objects.push(object)
  }
}

function holdsTemplate(node: Node, steps: Steps): boolean {
  steps.left--
  if (steps.left < 0) throw new NotRendered('its content exceeds the evaluation limit (render-limits)')
  if (node.type === 'scalar') return typeof node.value === 'string' && hasTemplate(node.value)
  if (node.type === 'list') return node.items.some(item => holdsTemplate(item, steps))
  return [...node.fields].some(([key, { value }]) => hasTemplate(key) || holdsTemplate(value, steps))
}
