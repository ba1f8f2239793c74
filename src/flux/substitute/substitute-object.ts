import { BailiwickError } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import { placesOf } from '../../kube/capabilities/capability.ts'
import { capabilityOf, fieldsNaming } from '../../kube/capabilities/index.ts'
import { KUBERNETES } from '../../kube/capabilities/scope.ts'
import { valuesOf } from '../../kube/flux-kinds.ts'
import {
  at,
  type Field,
  type ListNode,
  type Made,
  type MapNode,
  type Node,
  type Path,
  type ScalarNode,
  type ScalarValue,
  stringAt,
  type ValueHolder,
} from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { throughText } from '../../kustomize/resource/round-trip.ts'
import { emitScalar, isSimpleKey } from './emit-scalar.ts'
import { envsubst } from './envsubst.ts'
import { readFragment, readScalar, type ScalarPosition } from './read-scalar.ts'
import { INJECTION, type Substitution, TemplateError, type Variable } from './variables.ts'

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

/** Where a scalar is written in the text that Flux substitutes in. */
interface ScalarPlace {
  readonly position: ScalarPosition
  /** Indent of the map or list that it is part of. */
  readonly indent: number
  /** Column behind its key or dash. */
  readonly column: number
  /** The first line of a list below it goes on behind it. */
  readonly inline: boolean
}

/** What a text became. */
interface Expanded {
  readonly node: Node
  /** Where the text was written, through the values that were put into it. */
  readonly origin: Origin
  /** A number with a fraction or exponent: as a key it is written differently. */
  readonly float: boolean
  /** Only the cluster knows it, `node` is the text as it was: who holds the values. */
  readonly opaque?: readonly ValueHolder[]
  /** What made it beside plain variables. */
  readonly how?: Made['how']
}

/**
 * One text of an object written as YAML, substituted and read again. Throws TemplateError for what Flux refuses, and for
 * what would change more than this text.
 */
function substituteScalar(value: string, written: Origin, place: ScalarPlace, substitution: Substitution): Expanded {
  const indent = place.indent + 2
  const emitted = emitScalar(value, { column: place.column, indent, key: place.position === 'key' })
  const { text, used, opaque, how } = envsubst(emitted.text, { ...substitution, origin: written })
  const origin = through(written, used)
  const made = { origin, float: false, ...(opaque ? { opaque } : {}), ...(how ? { how } : {}) }
  if (opaque) return { ...made, node: { type: 'scalar', value, origin } }
  const read = readScalar({ text, style: emitted.style }, place.position, indent)
  if (read.type === 'fragment') return { ...made, node: readFragment(read.text, place.position, origin) }
  return { ...made, node: { type: 'scalar', value: read.value, origin }, float: read.float === true }
}

function through(origin: Origin, used: readonly Variable[]): Origin {
  if (used.length === 0) return origin
  const steps = used.map((variable): Step => {
    const { file, line } = variable.origin
    return { step: 'substitution', file, line }
  })
  return { ...origin, via: [...(origin.via ?? []), ...steps] }
}

/** Fields of Flux's kinds that say what is applied, where, from where and as whom; and what may hold such fields. */
const OF_FLUX = new Set(
  (
    'apiVersion kind namespace serviceAccountName serviceAccount sourceRef chartRef url endpoint targetNamespace ' +
    'storageNamespace kubeConfig dependsOn accessFrom labels'
  ).split(' '),
)
const FLUX = /(?:^|\.)(?:toolkit\.fluxcd\.io|fluxcd\.controlplane\.io|extensions\.fluxcd\.io)$/
/** Groups whose objects are tenants, or restrict them, also by their names. */
const NAMED = /(?:^|\.)(?:clastix\.io|kyverno\.io|gatekeeper\.sh|istio\.io|cilium\.io|projectcalico\.org)$/
/** Fields of Kubernetes' own kinds: the account of a pod, and the namespace of whatever they refer to. */
const OF_KUBERNETES = new Set(['serviceAccountName', 'serviceAccount', 'namespace'])
const OF_METADATA = new Set(['namespace', 'labels', 'finalizers', 'ownerReferences'])
const TEMPLATE = new Set(['template', 'jobTemplate'])
const STRUCTURE = new Set(['metadata', 'spec', 'template', 'jobTemplate', 'annotations', 'items', 'containers'])

/** Names that people give to what they keep, not fields of the API: any word may stand there. */
const CONTENT: ReadonlyMap<string, readonly (readonly string[])[]> = new Map<string, readonly (readonly string[])[]>([
  ['/ConfigMap', [['data'], ['binaryData']]],
  ['/Secret', [['data'], ['stringData']]],
  ...[...valuesOf(row => row.free)].map(([kind, path]) => [kind, [path]] as const),
])

/**
 * Throws `unrendered-variable` where a value that only the cluster has stands in an identity: there a verdict on the rest would
 * be about another object. Anywhere else the value is marked as unknown. Identities are known by the schema of a
 * kind: a word as `kind` or `url` in the settings of another one is none.
 */
function refuseOpaque(root: MapNode, place: Path, origin: Origin): void {
  if (!isIdentity(root, place)) return
  const path = place.filter(step => typeof step === 'string').join('.')
  throw opaqueRefusal(
    `${path}: contains an unknown value, which only the cluster has. Allowed: a value in git, because this field decides what is applied, where and by which account`,
    origin,
  )
}

/**
 * Throws `unrendered-variable` for a key that only the cluster knows: it may be any field. One without a text of its own
 * among the data of a ConfigMap is none (Knative has its domain as such a key).
 */
function refuseOpaqueKey(root: MapNode, place: Path, value: Node, origin: Origin): void {
  const kind = `${groupOf(stringAt(root, ['apiVersion']) ?? '')}/${stringAt(root, ['kind']) ?? ''}`
  const isEmpty = value.type === 'scalar' && value.value === ''
  if (kind === '/ConfigMap' && place.length === 1 && place[0] === 'data' && isEmpty) return
  const where = place.length === 0 ? 'the object' : place.join('.')
  throw opaqueRefusal(
    `${where}: a key contains an unknown value, which only the cluster has, so it can be any field`,
    origin,
  )
}

function opaqueRefusal(message: string, origin: Origin): BailiwickError {
  return new BailiwickError('unrendered-variable', message, {
    origin,
    fix: 'Write the value into git, or declare it in .github/bailiwick.yaml.',
  })
}

function isIdentity(root: MapNode, place: Path): boolean {
  const path = place.filter(step => typeof step === 'string')
  const last = path.at(-1) ?? ''
  if (path.every(step => STRUCTURE.has(step))) return true
  const group = groupOf(stringAt(root, ['apiVersion']) ?? '')
  const kind = `${group}/${stringAt(root, ['kind']) ?? ''}`
  if (isContent(kind, path) || isOwnName(kind, group, place)) return false
  if (isOfObject(root, place, path)) return true
  if (path[0] === 'metadata') return false
  if (group === 'rbac.authorization.k8s.io') return true
  if (FLUX.test(group))
    return path.some(step => OF_FLUX.has(step)) || STRUCTURE.has(last) || path.join('.') === 'spec.path'
  if (Object.hasOwn(KUBERNETES, group) || group.endsWith('.k8s.io')) return OF_KUBERNETES.has(last)
  return fieldsNaming(kind, 'namespace', 'identity').some(field =>
    placesOf(root, field.at).some(one => isWithin(place, one)),
  )
}

/**
 * The name of a custom object of a namespaced kind that rules know. No namespace, account or right is known by it, and who
 * may decide the value is checked like anywhere else.
 */
function isOwnName(kind: string, group: string, place: Path): boolean {
  if (place.length !== 2 || place[0] !== 'metadata' || place[1] !== 'name') return false
  const isKnown = Object.hasOwn(KUBERNETES, group) || group.endsWith('.k8s.io') || FLUX.test(group)
  return !isKnown && !NAMED.test(group) && capabilityOf(kind)?.scope === 'Namespaced'
}

/** What says which object it is: of the root, of the template of a pod, and of a manifest that another object holds. */
function isOfObject(root: MapNode, place: Path, path: readonly string[]): boolean {
  const last = path.at(-1) ?? ''
  if (last === 'apiVersion' || last === 'kind') {
    const holder = at(root, place.slice(0, -1))
    return path.length === 1 || (holder?.type === 'map' && holder.fields.has('metadata'))
  }
  const index = path.lastIndexOf('metadata')
  if (index < 0 || (index > 0 && !TEMPLATE.has(path[index - 1]!) && !isManifest(root, place))) return false
  const field = path[index + 1] ?? ''
  if (last.includes('toolkit.fluxcd.io/') || OF_METADATA.has(field)) return true
  return field === 'name' && path.length === index + 2
}

/** Whether the metadata that a field stands in is that of a whole manifest. */
function isManifest(root: MapNode, place: Path): boolean {
  const holder = at(root, place.slice(0, place.lastIndexOf('metadata')))
  return holder?.type === 'map' && holder.fields.has('apiVersion') && holder.fields.has('kind')
}

function isContent(kind: string, path: readonly string[]): boolean {
  const places = CONTENT.get(kind) ?? []
  return places.some(place => path.length > place.length && place.every((step, index) => step === path[index]))
}

const isWithin = (place: Path, field: Path): boolean => field.every((step, index) => step === place[index])
