import { BailiwickError } from '../../errors.ts'
import type { Field, ListNode, Made, MapNode, Node, ScalarNode, ScalarValue, ValueHolder } from '../../kube/node.ts'
import { throughText } from '../../kustomize/resource/round-trip.ts'
import type { Origin } from '../../origin.ts'
import { emitScalar, isSimpleKey } from './emit-scalar.ts'
import { refuseOpaque, refuseOpaqueKey } from './opaque-place.ts'
import { type Expanded, type ScalarPlace, substituteScalar } from './substitute-scalar.ts'
import type { Substitution } from './substitution.ts'
import { INJECTION, TemplateError } from './template-error.ts'

/**
 * An object after Flux substituted variables in it (fluxcd/pkg kustomize, SubstituteVariables): written as YAML,
 * substituted as text, read again, each scalar by itself. What the text does not touch is the same node. Throws
 * `flux-invalid`, `flux-missing-variable`, `flux-unsupported` (where a value reaches beyond its scalar) and
 * `render-limits`.
 */
export function substituteObject(root: MapNode, substitution: Substitution): MapNode {
  if (!mentions(root)) return throughText(root)
  const walker = new Walker(root, substitution)
  const result = throughText(walker.map(root, 0))
  return walker.made.length > 0 ? { ...result, made: walker.made } : result
}

interface Key {
  readonly key: string
  readonly origin: Origin
  readonly opaque?: readonly ValueHolder[]
}

class Walker {
  private readonly substitution: Substitution
  readonly made: Made[] = []
  /** Where it is in the object. */
  private readonly place: (string | number)[] = []
  private readonly root: MapNode

  constructor(root: MapNode, substitution: Substitution) {
    this.root = root
    this.substitution = substitution
  }

  map(map: MapNode, indent: number): MapNode {
    const fields = new Map<string, Field>()
    let changed = false
    for (const [name, field] of map.fields) {
      const { key, origin, opaque } = this.key(name, field, indent)
      if (fields.has(key)) throw refusal(`a second key ${JSON.stringify(key)} in one map`, origin)
      if (key === '<<' && name !== key) throw refusal('a merge key', origin)
      this.place.push(key)
      const known = this.node(field.value, this.valuePlace(name, indent))
      // what only the cluster has is marked at values
      const value = opaque && known.type === 'scalar' ? { ...known, opaque } : known
      this.place.pop()
      changed ||= value !== field.value || key !== name
      fields.set(key, value === field.value && key === name ? field : { key: origin, value })
    }
    return changed ? { ...map, fields } : map
  }

  private node(node: Node, place: ScalarPlace): Node {
    if (node.type === 'map') return this.map(node, place.indent + 2)
    if (node.type === 'list') return this.list(node, place)
    return this.scalar(node, place)
  }

  /** A list stands as far left as the map that it is a value of. */
  private list(list: ListNode, place: ScalarPlace): ListNode {
    const indent = place.position === 'value' && !place.inline ? place.indent : place.indent + 2
    const at: ScalarPlace = { position: 'item', indent, column: indent + 1, inline: true }
    const items = list.items.map((item, index) => {
      this.place.push(index)
      const value = this.node(item, at)
      this.place.pop()
      return value
    })
    return items.every((item, index) => item === list.items[index]) ? list : { ...list, items }
  }

  private scalar(node: ScalarNode, place: ScalarPlace): Node {
    if (typeof node.value !== 'string' || !node.value.includes('$')) return node
    const result = this.expand(node.value, node.origin, place)
    this.note(result)
    if (result.opaque) {
      refuseOpaque(this.root, this.place, node.origin)
      return { ...node, origin: result.origin, opaque: result.opaque }
    }
    return result.node
  }

  private note({ how, node }: Expanded): void {
    if (how) this.made.push({ path: [...this.place], how })
    if (node.type !== 'scalar') this.made.push({ path: [...this.place], how: 'structure' })
  }

  private key(name: string, { key: origin, value }: Field, indent: number): Key {
    if (!name.includes('$')) return { key: name, origin }
    const simple = isSimpleKey(name)
    const column = simple ? indent - 1 : indent + 1
    const result = this.expand(name, origin, { position: simple ? 'key' : 'item', indent, column, inline: true })
    if (result.opaque) {
      refuseOpaqueKey(this.root, this.place, value, origin)
      return { key: name, origin: result.origin, opaque: result.opaque }
    }
    const text = result.node.type === 'scalar' ? keyText(result.node.value, result.float) : undefined
    if (text === undefined || text.length > 1000)
      throw refusal('a key that is not a plain string', origin, 'a key that is no plain text')
    return { key: text, origin: result.origin }
  }

  private valuePlace(name: string, indent: number): ScalarPlace {
    if (!isSimpleKey(name)) return { position: 'item', indent, column: indent + 1, inline: true }
    const { text } = emitScalar(name, { column: indent - 1, indent, key: true })
    return { position: 'value', indent, column: indent + text.length + 1, inline: false }
  }

  private expand(value: string, origin: Origin, place: ScalarPlace): Expanded {
    try {
      return substituteScalar(value, origin, place, this.substitution)
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      const fix = FIXES.get(error.code) ?? 'Write $$ for a literal dollar sign, or quote the value.'
      throw new BailiwickError(error.code, `envsubst: ${error.message}`, { origin, rule: error.rule, fix })
    }
  }
}

const FIXES = new Map([
  ['flux-missing-variable', 'Define the variable in spec.postBuild, or add a default after :=.'],
  ['flux-unsupported', 'Use a value that is one string.'],
])

/** A key as JSON has it; undefined for what is none, or is written differently by Go. */
function keyText(value: ScalarValue, float: boolean): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'number') return undefined
  if (!float) return Number.isSafeInteger(value) ? String(value) : undefined
  const short = String(value).replace(/[-.]/g, '').length <= 6
  return short && Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6 ? String(value) : undefined
}

function mentions(node: Node): boolean {
  if (node.type === 'scalar') return typeof node.value === 'string' && node.value.includes('$')
  if (node.type === 'list') return node.items.some(mentions)
  for (const [key, field] of node.fields) if (key.includes('$') || mentions(field.value)) return true
  return false
}

/** `before`: its words in fingerprints that exist. */
function refusal(what: string, origin: Origin, before = what): BailiwickError {
  const fix = 'Use a value that is one string.'
  return new BailiwickError('flux-unsupported', `substitution: creates ${what}. Allowed: one string for each value`, {
    origin,
    rule: INJECTION,
    fix,
    identity: `substitution gives ${before}`,
  })
}
