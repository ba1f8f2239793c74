import { BailiwickError } from '../../errors.ts'
import { writtenText } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node, type ScalarNode, stringAt } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import { refuseUnknown } from '../generate/unknown-values.ts'
import { type BuildBudget, checkObjectSize } from '../model/build-budget.ts'
import type { Entry } from '../model/entry.ts'
import type { FieldOptions, Replacement } from '../model/replacement.ts'
import type { Resource } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { PathEditor } from './edit-path.ts'
import { splitFieldPath } from './field-path.ts'
import { retype } from './retype.ts'
import { TargetSelection } from './select-targets.ts'
import { checkNotes, findSource, type SourceValue } from './source-value.ts'
import { editStructuredText } from './structured-text.ts'

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
      for (const path of paths) new Copy(resource, value, path, target.options, budget).run()
    }
  }
}

interface FieldPath extends Entry {
  readonly parts: readonly string[]
}

function partsOf({ text, origin }: Entry): string[] {
  const parts = splitFieldPath(text)
  if (parts.every(part => part !== '' && part === part.trim())) return parts
  const message = `field path ${JSON.stringify(text)}: has an empty part`
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}

class Copy {
  private readonly resource: Resource
  private readonly value: SourceValue
  private readonly path: FieldPath
  private readonly options: FieldOptions
  private readonly budget: BuildBudget

  constructor(resource: Resource, value: SourceValue, path: FieldPath, options: FieldOptions, budget: BuildBudget) {
    this.resource = resource
    this.value = value
    this.path = path
    this.options = options
    this.budget = budget
  }

  run(): void {
    const { origin, parts } = this.path
    const before = this.resource.root
    const how = {
      origin,
      ...(this.options.create ? { create: this.value.type } : {}),
      spend: (steps: number): void => this.budget.spend('steps', steps, origin),
    }
    const structured = editStructuredText(before, parts, this.value, { ...how, budget: this.budget })
    if (structured) this.value.noteWrite(this.resource, structured.place, structured.text, origin)
    const editor = new PathEditor({ ...how, edit: (node, place) => this.write(node, place) })
    const root = structured?.root ?? editor.walk(before, parts)
    if (!structured && editor.count === 0) {
      const message = `field path ${this.path.text}: ${describeRoot(before)} has no such field`
      throw new BailiwickError('kustomize-invalid', message, { origin })
    }
    if (root !== before) checkObjectSize(root, origin)
    this.resource.overwrite(root as MapNode)
    this.checkIdentity(before)
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
  private checkIdentity(before: MapNode): void {
    const { root } = this.resource
    for (const path of [['apiVersion'], ['kind'], ['metadata', 'name'], ['metadata', 'namespace']]) {
      const node = at(root, path)
      if (node === at(before, path)) continue
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
