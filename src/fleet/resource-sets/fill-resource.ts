import { BailiwickError } from '../../errors.ts'
import type { Field, MapNode, Node, ScalarNode, ValueHolder } from '../../kube/node.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import { type Inputs, printed } from './inputs.ts'
import { hasTemplate, type Piece, readTemplate, trims } from './template.ts'

const CHANGES = 'an input value changes the text around it'
/** Words, dates and numbers that the operator's reader of YAML takes for something else than kustomize's. */
const OTHER_YAML = /^(?:y|n|yes|no|on|off)$|^\d{4}-\d|^[-+.\d][\d_:.]*:|^[-+]?0[box_\d]|^[-+.\d][\d.]*_/i

/** What the operator's writer of YAML certainly puts into quotes. */
const IN_QUOTES = /: |:$| #|^[\s'"{}[\]&*!|>%@`#,]|\s$/

/** Why a part of a ResourceSet is not rendered here. */
export class NotRendered extends Error {}

/** Values that are visited, each once for each set of inputs. */
export interface Steps {
  left: number
}

/**
 * A resource with the fields of its inputs in it, as the Flux Operator fills the YAML text of it. Throws NotRendered for
 * whatever is more than fields of the inputs, and where what a value does to the text around it is not certain.
 */
export function fillResource(node: MapNode, inputs: Inputs | undefined, steps: Steps): MapNode {
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
export function filled(
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
  try {
    const { documents } = parseText(`value: ${text}\n`, () => origin)
    const [root] = documents
    const value = root?.type === 'map' && root.fields.size === 1 ? root.fields.get('value')?.value : undefined
    const isPlain = documents.length === 1 && value?.type === 'scalar' && !value.quoted && value.style === undefined
    return isPlain && value.commented === undefined && !/(?:^|\s)#/.test(text) ? value : undefined
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}

/** Whether the operator's YAML writer puts no quotes around a template: nothing in it begins anything else. */
function isWrittenPlain(template: string): boolean {
  return /^[\w</.(+=~^][^'"\n\r]*$/.test(template) && !/: |:$| #|^\s|\s$/.test(template)
}
