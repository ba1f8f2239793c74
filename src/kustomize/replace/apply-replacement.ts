import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { at, type MapNode, type Node, type ScalarNode, stringAt, writtenText } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import { type BuildBudget, checkObjectSize } from '../build-budget.ts'
import type { Entry } from '../entry.ts'
import { MapEdits } from '../resource/map-edits.ts'
import { IDENTITY, type Resource, refuseUnknown } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { ID_PARTS, IdPattern, selectsNotes } from '../select/select.ts'
import { type PathEdit, PathEditor, readEmbedded, splitFieldPath } from './edit-path.ts'
import {
  checkNotes,
  type FieldOptions,
  type FoundNode,
  findSource,
  lookUpStep,
  type Replacement,
  type ReplacementTarget,
  retype,
  type SourceValue,
} from './source-value.ts'

/**
 * Copies the value of a replacement to its targets (api/filters/replacement). Throws `kustomize-invalid` where kustomize
 * fails, `kustomize-unsupported` where what it does is an accident.
 */
export function applyReplacement(resources: ResourceList, replacement: Replacement, budget: BuildBudget): void {
  budget.spend('steps', resources.all.length, replacement.origin)
  const value = findSource(resources.all, replacement)
  for (const target of replacement.targets) {
    budget.spendOnEach(resources.all, target.origin)
    const selection = new TargetSelection(target, budget)
    let paths: readonly FieldPath[] | undefined
    for (const resource of resources.all) {
      if (!selection.takes(resource)) continue
      paths ??= target.fieldPaths.map(path => ({ ...path, parts: partsOf(path) }))
      const edits = new MapEdits(steps => budget.spend('steps', steps, target.origin))
      for (const path of paths) new Copy(resource, value, path, { ...target.options, edits }, budget).run()
      checkObjectSize(resource.root, target.origin)
    }
  }
}

/** What it costs to follow one path in one object, and to write each further value that it leads to. */
const COPY_STEPS = 16
const WRITE_STEPS = 28

interface FieldPath extends Entry {
  readonly parts: readonly string[]
}

function partsOf({ text, origin }: Entry): string[] {
  const parts = splitFieldPath(text)
  if (parts.every(part => part !== '' && part === part.trim())) return parts
  const message = `field path ${JSON.stringify(text)}: has an empty part`
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}

/** `edits`: those of all paths of a target in one object. */
interface CopyOptions extends FieldOptions {
  readonly edits: MapEdits
}

class Copy {
  private readonly resource: Resource
  private readonly value: SourceValue
  private readonly path: FieldPath
  private readonly options: CopyOptions
  private readonly budget: BuildBudget

  constructor(resource: Resource, value: SourceValue, path: FieldPath, options: CopyOptions, budget: BuildBudget) {
    this.resource = resource
    this.value = value
    this.path = path
    this.options = options
    this.budget = budget
  }

  run(): void {
    const { origin, parts } = this.path
    const before = this.resource.root
    const names = IDENTITY.map(path => at(before, path))
    // what is written to one place of a shared value is written to all, so nothing of it may be changed in place
    if (this.resource.hasShared) this.options.edits.release()
    this.budget.spend('steps', COPY_STEPS, origin)
    const how = {
      origin,
      edits: this.options.edits,
      ...(this.options.create ? { create: this.value.type } : {}),
      spend: (steps: number): void => this.budget.spend('steps', steps, origin),
    }
    const structured = editStructuredText(before, parts, this.value, { ...how, budget: this.budget })
    if (structured) this.value.noteWrite(this.resource, structured.place, structured.text, origin)
    const editor = new PathEditor({ ...how, edit: (node, place) => this.write(node, place) })
    const root = structured?.root ?? editor.walk(before, parts)
    if (editor.count > 1) this.budget.spend('steps', WRITE_STEPS * (editor.count - 1), origin)
    if (!structured && editor.count === 0) {
      const message = `field path ${this.path.text}: ${describeRoot(before)} has no such field`
      throw new BailiwickError('kustomize-invalid', message, { origin })
    }
    // a text adds one value; what a map or list adds is known before more of it is written
    if (this.value.type !== 'scalar') checkObjectSize(root, origin)
    this.resource.overwrite(root as MapNode)
    this.checkIdentity(names)
  }

  private write(node: Node, place: readonly (string | number)[]): Node {
    checkNotes(this.resource, place, this.path.origin)
    refuseUnknown(node, this.path.origin)
    const written = this.written(node)
    this.value.noteWrite(this.resource, place, written, this.path.origin)
    return written
  }

  private written(node: Node): Node {
    const { delimiter } = this.options
    if (node.type === 'scalar') {
      const text = delimiter === '' ? this.value.text : this.joined(node)
      return retype(node, text, this.value.origin, 'kustomize-invalid', this.path.origin)
    }
    if (delimiter === '') return this.value.copy(this.budget)
    throw new BailiwickError('kustomize-invalid', 'replacements: options.delimiter needs a string', {
      origin: this.path.origin,
    })
  }

  private joined(node: ScalarNode): string {
    const { delimiter, index } = this.options
    const before = writtenText(node)
    const { text } = this.value
    this.budget.spend('steps', before.length + text.length, this.path.origin)
    const pieces = before.split(delimiter)
    if (index < 0) pieces.unshift(text)
    else if (index >= pieces.length) pieces.push(text)
    else pieces[index] = text
    return pieces.join(delimiter)
  }

  /**
   * A name that is not a string is nothing that an object can be applied by. Patches and prefixes make kustomize forget that a
   * name is a text, so one that looks like a number must stand in quotes.
   */
  private checkIdentity(before: readonly (Node | undefined)[]): void {
    const { root } = this.resource
    for (const [index, path] of IDENTITY.entries()) {
      const node = at(root, path)
      if (node === before[index]) continue
      const text = stringAt(root, path)
      if (text && node?.type === 'scalar' && (node.quoted || resolvePlain(text) === text)) continue
      this.refuse(`${path.join('.')} is not a string`)
    }
    // kustomize fails where it reads them next, if it does
    for (const name of ['labels', 'annotations']) {
      const node = at(root, ['metadata', name])
      if (node?.type === 'list') this.refuse(`metadata.${name} is not a map`)
    }
  }

  private refuse(what: string): never {
    const message = `replacements: after the replacement, ${what}`
    throw new BailiwickError('kustomize-unsupported', message, { origin: this.path.origin })
  }
}

function describeRoot(root: MapNode): string {
  return `${stringAt(root, ['kind'])} ${stringAt(root, ['metadata', 'name'])}`
}

/**
 * Whether a target of a replacement takes an object: labels and annotations fit, no rejection does, and one of its ids
 * matches in every part (api/types/replacement.go, TargetSelectorRegex). A rejection with both a name and labels rejects
 * what fits either. Throws for an expression that cannot be used, whether or not any object gets as far.
 */
class TargetSelection {
  private readonly target: ReplacementTarget
  private readonly selected: IdPattern
  private readonly rejected: readonly IdPattern[]
  private readonly budget: BuildBudget

  constructor(target: ReplacementTarget, budget: BuildBudget) {
    this.target = target
    this.budget = budget
    this.selected = new IdPattern(target.select, budget)
    this.rejected = target.reject.flatMap(one => {
      const pattern = new IdPattern(one, budget)
      return ID_PARTS.some(part => one[part]) ? [pattern] : []
    })
  }

  takes(resource: Resource): boolean {
    const { select, reject } = this.target
    if (!selectsNotes(select, resource)) return false
    for (const one of reject) {
      if ((one.labelSelector || one.annotationSelector) && selectsNotes(one, resource)) return false
    }
    const ids = resource.writtenIds
    this.budget.spend('steps', ids.length * (1 + reject.length), this.target.origin)
    return ids.some(id => this.selected.matches(id)) && !this.rejected.some(one => ids.some(id => one.matches(id)))
  }
}

type How = Omit<PathEdit, 'edit'> & { readonly budget: BuildBudget }

interface Structured {
  readonly root: Node
  readonly text: ScalarNode
  readonly place: readonly (string | number)[]
}

/**
 * The object with a value put inside of a text that holds JSON, where the field path leads into one; undefined where it
 * does not, or ends at nothing there. JSON is written back sorted (api/filters/replacement, setValueInStructuredData);
 * options such as a delimiter do not count there. Throws `kustomize-unsupported` for text that is YAML and not JSON.
 */
function editStructuredText(root: Node, path: readonly string[], value: SourceValue, how: How): Structured | undefined {
  const found = findText(root, path)
  if (!found) return undefined
  refuseUnknown(found.text, how.origin)
  const embedded = readEmbedded(found.text)
  if (!embedded) return undefined
  how.spend(embedded.text.length)
  const isJson = /^\s*[[{]/.test(embedded.text)
  const editor = new PathEditor({ ...how, edit: node => (isJson ? written(node, value, how) : node) })
  if (!fits(embedded.node, found.rest)) return undefined
  const edited = editor.walk(embedded.node, found.rest)
  if (editor.count === 0) return undefined
  if (!isJson) refuseYaml(how.origin)
  const text = asJson(edited, embedded.text)
  const { origin } = found.text
  const step = value.origin.via!.at(-1)!
  const node = retype(found.text, text, { ...origin, via: [...(origin.via ?? []), step] })
  return { root: replaceAt(root, found.place, node), text: node, place: found.place }
}

function findText(root: Node, path: readonly string[]) {
  let found: FoundNode = { node: root, place: [] }
  for (const [index, part] of path.slice(0, -1).entries()) {
    const next = lookUpStep(found, part)
    if (typeof next === 'string') return undefined
    found = next
    if (found.node.type === 'scalar') return { text: found.node, place: found.place, rest: path.slice(index + 1) }
  }
  return undefined
}

/** Only a map or list has anything to find; for other values the path is taken for one of the object. */
function fits(node: Node, rest: readonly string[]): boolean {
  return node.type !== 'scalar' || (node.value === null && rest.length > 0)
}

function written(node: Node, value: SourceValue, { budget, origin }: How): Node {
  // the place says how the part is written, so it stays; kustomize writes a wrong type out, or forgets the value
  if (node.type === 'scalar') return retype(node, value.text, node.origin, 'kustomize-unsupported', origin)
  return value.copy(budget)
}

function asJson(node: Node, before: string): string {
  return goJson(node, before.includes('\n') && before.includes('  ') ? '  ' : '')
}

function refuseYaml(origin: Origin): never {
  const message = 'replacements: a field path into YAML text is not supported. Supported: JSON text'
  const fix = 'Write the text as JSON, or replace the whole text with `patches`.'
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix })
}

function replaceAt(root: Node, [key, ...rest]: readonly (string | number)[], value: Node): Node {
  if (key === undefined) return value
  if (root.type === 'list') {
    return { ...root, items: root.items.map((item, index) => (index === key ? replaceAt(item, rest, value) : item)) }
  }
  if (root.type !== 'map') return root
  const fields = new Map(root.fields)
  const field = fields.get(String(key))!
  fields.set(String(key), { ...field, value: replaceAt(field.value, rest, value) })
  return { ...root, fields }
}

/** JSON as Go's encoding/json writes what go-yaml has read: keys sorted by bytes; on lines where an indent is given. */
function goJson(node: Node, indent: string, outer = ''): string {
  if (node.type === 'scalar') return typeof node.value === 'string' ? goString(node.value) : String(node.value)
  const inner = outer + indent
  const isMap = node.type === 'map'
  const parts = isMap
    ? sortedKeys(node.fields).map(key => {
        const value = goJson(node.fields.get(key)!.value, indent, inner)
        return `${goString(key)}:${indent === '' ? '' : ' '}${value}`
      })
    : node.items.map(item => goJson(item, indent, inner))
  const [open, close] = isMap ? '{}' : '[]'
  if (parts.length === 0 || indent === '') return `${open}${parts.join(',')}${close}`
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${outer}${close}`
}

function sortedKeys(fields: ReadonlyMap<string, unknown>): string[] {
  return [...fields.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

function goString(text: string): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, escaped)
}
