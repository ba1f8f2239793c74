import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { overrideMetadata, readObjects } from '../../flux/built-objects.ts'
import { OPERATOR_GROUP, RESOURCE_SET } from '../../kube/flux-kinds.ts'
import {
  at,
  type Field,
  type MapNode,
  type Node,
  type ScalarNode,
  stringAt,
  textNode,
  type ValueHolder,
} from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'

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

/** Whether an object is a ResourceSet. */
function isResourceSet(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return `${groupOf(apiVersion)}/${kind}` === RESOURCE_SET
}

/** The ResourceSets among objects; the same list is searched only once. */
export const setsIn = oncePer((objects: readonly KubeObject[]): readonly KubeObject[] => objects.filter(isResourceSet))

/**
 * The objects that a ResourceSet makes: those that are written out, and templates that have only fields of inputs that
 * stand in it. Functions, conditions and inputs of providers are named as left. Pure; nothing is thrown.
 * Source: flux-operator, internal/builder/resourceset.go and internal/inputs.
 */
export const renderResourceSet = oncePer((set: KubeObject): RenderedSet => {
  const rendering = new Rendering(set)
  for (const part of partsOf(set.root)) rendering.add(part)
  return rendering.end()
})

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

const CHANGES = 'an input value changes the text around it'
/** Words, dates and numbers that the operator's reader of YAML takes for something else than kustomize's. */
const OTHER_YAML = /^(?:y|n|yes|no|on|off)$|^\d{4}-\d|^[-+.\d][\d_:.]*:|^[-+]?0[box_\d]|^[-+.\d][\d.]*_/i

/** What the operator's writer of YAML certainly puts into quotes. */
const IN_QUOTES = /: |:$| #|^[\s'"{}[\]&*!|>%@`#,]|\s$/

/** Why a part of a ResourceSet is not rendered here. */
class NotRendered extends Error {}

/** Values that are visited, each once for each set of inputs. */
interface Steps {
  left: number
}

/**
 * A resource with the fields of its inputs in it, as the Flux Operator fills the YAML text of it. Throws NotRendered for
 * whatever is more than fields of the inputs, and where what a value does to the text around it is not certain.
 */
function fillResource(node: MapNode, inputs: Inputs | undefined, steps: Steps): MapNode {
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    if (hasTemplate(key)) throw new NotRendered('one of its keys is a template')
    fields.set(key, { ...field, value: fill(field.value, inputs, steps) })
  }
  return { ...node, fields }
}

function fill(node: Node, inputs: Inputs | undefined, steps: Steps): Node {
  steps.left--
  if (steps.left < 0) throw new NotRendered('its input sets exceed the evaluation limit (render-limits)')
  if (node.type === 'map') return fillResource(node, inputs, steps)
  if (node.type === 'list') return { ...node, items: node.items.map(item => fill(item, inputs, steps)) }
  return typeof node.value === 'string' && hasTemplate(node.value) ? fillScalar(node, node.value, inputs) : node
}

function fillScalar(node: ScalarNode, template: string, inputs: Inputs | undefined): ScalarNode {
  const pieces = trims(template) ? undefined : readTemplate(template)
  if (!pieces) throw new NotRendered('it uses template functions other than input fields')
  const { text, values, opaque } = filled(pieces, inputs, node.opaque)
  const { origin } = node
  if (opaque.length > 0) return { type: 'scalar', value: text, origin, opaque }
  const isBlock = template.includes('\n')
  // a block of lines ends and begins where its values do
  const isUncertain = isBlock ? values.some(value => !/^\S(?:.*\S)?$/.test(value)) : OTHER_YAML.test(text.trim())
  if (isUncertain) throw new NotRendered(CHANGES)
  const plain = plainValue(text, origin)
  if (plain !== undefined && plain.value === text) return { type: 'scalar', value: text, origin }
  if (!isBlock && isWrittenPlain(template)) {
    if (plain === undefined) throw new NotRendered(CHANGES)
    return { ...plain, origin }
  }
  const isBroken = /['"\\\r]/.test(text) || (!isBlock && text.includes('\n'))
  if (isBroken || !(isBlock || IN_QUOTES.test(template))) throw new NotRendered(CHANGES)
  return { type: 'scalar', value: text, origin }
}

/** A template with its fields; `opaque`: who holds what of it is unknown. */
function filled(
  pieces: readonly Piece[],
  inputs: Inputs | undefined,
  holders: readonly ValueHolder[] = [],
): { readonly text: string; readonly values: readonly string[]; readonly opaque: readonly ValueHolder[] } {
  const opaque = new Set(holders)
  const values: string[] = []
  let text = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece
    else {
      const name = `inputs.${piece.field.join('.')}`
      const node = inputs?.(piece.field)
      if (!node) throw new NotRendered(`${name} is not set in its inputs`)
      const value = printed(node)
      if (!value) throw new NotRendered(`${name} is not a single string`)
      for (const holder of value.opaque ?? []) opaque.add(holder)
      values.push(value.text)
      text += value.text
    }
  }
  return { text, values, opaque: [...opaque] }
}

/** What a text means as a plain value of YAML; undefined where it is none, or not one. */
function plainValue(text: string, origin: ScalarNode['origin']): ScalarNode | undefined {
  if (/[\r\n]/.test(text)) return undefined
  return unlessRefused(undefined, () => {
    const { documents } = parseText(`value: ${text}\n`, () => origin)
    const [root] = documents
    const value = root?.type === 'map' && root.fields.size === 1 ? root.fields.get('value')?.value : undefined
    const isPlain = documents.length === 1 && value?.type === 'scalar' && !value.quoted && value.style === undefined
    return isPlain && value.commented === undefined && !/(?:^|\s)#/.test(text) ? value : undefined
  })
}

/** Whether the operator's YAML writer puts no quotes around a template: nothing in it begins anything else. */
function isWrittenPlain(template: string): boolean {
  return /^[\w</.(+=~^][^'"\n\r]*$/.test(template) && !/: |:$| #|^\s|\s$/.test(template)
}

/** A piece of a template: text, or a field of the inputs. */
type Piece = string | { readonly field: readonly string[] }

const OPEN = '<<'
const CLOSE = '>>'
const FIELD = /^inputs((?:\.[A-Za-z_]\w*)+)$/
const SPACE_BEHIND = /[ \t\r\n]*$/
const SPACE_BEFORE = /^[ \t\r\n]*/

const hasTemplate = (text: string): boolean => text.includes(OPEN)

/**
 * A Go template of the Flux Operator as pieces, where it has nothing but fields of the inputs; undefined where it has more:
 * functions, variables, conditions. Source: Go's text/template with `<<` and `>>` (flux-operator, internal/builder).
 */
function readTemplate(text: string): Piece[] | undefined {
  const pieces: Piece[] = []
  let rest = text
  for (let open = rest.indexOf(OPEN); open >= 0; open = rest.indexOf(OPEN)) {
    const close = rest.indexOf(CLOSE, open)
    if (close < 0) return undefined
    const inside = rest.slice(open + OPEN.length, close)
    const trimsBefore = /^-[ \t\r\n]/.test(inside)
    const trimsBehind = /[ \t\r\n]-$/.test(inside)
    const field = FIELD.exec(inside.slice(trimsBefore ? 1 : 0, trimsBehind ? -1 : undefined).trim())?.[1]
    if (field === undefined) return undefined
    const before = rest.slice(0, open)
    pieces.push(trimsBefore ? before.replace(SPACE_BEHIND, '') : before, { field: field.slice(1).split('.') })
    rest = rest.slice(close + CLOSE.length)
    if (trimsBehind) rest = rest.replace(SPACE_BEFORE, '')
  }
  return [...pieces, rest]
}

/** Whether a template eats white space around its fields. */
const trims = (text: string): boolean => /<<-|->>/.test(text)

/** The fields of one set of inputs: what stands at a path of names; undefined where nothing is set there. */
type Inputs = (field: readonly string[]) => Node | undefined

/** The sets of inputs that stand in a ResourceSet itself, each with what the operator adds about their provider. */
function inlineInputs(set: KubeObject): readonly Inputs[] {
  const list = at(set.root, ['spec', 'inputs'])
  if (list?.type !== 'list') return []
  const { apiVersion, kind, namespace, name } = idOf(set)
  const provider = new Map(Object.entries({ apiVersion, kind, namespace, name }))
  return list.items.map(item => field => {
    const [first, second = '', ...more] = field
    // the operator writes over what an input is called so
    if (first !== 'provider') return at(item, [...field])
    const value = more.length === 0 ? provider.get(second) : undefined
    return value === undefined ? undefined : textNode(value, item.origin)
  })
}

/** The text that Go's templates print for a value; undefined where Go prints another text, or for a map or list. */
function printed(node: Node): (Pick<ScalarNode, 'opaque'> & { readonly text: string }) | undefined {
  if (node.type !== 'scalar') return undefined
  const { value, opaque } = node
  if (typeof value === 'string') return { text: value, ...(opaque ? { opaque } : {}) }
  if (opaque) return undefined
  if (typeof value === 'boolean') return { text: String(value) }
  // larger ones are printed with an exponent
  const isPlain = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1_000_000
  return isPlain ? { text: String(value) } : undefined
}
