import { BailiwickError } from '../../errors.ts'
import { isEmpty, through, writtenText } from '../../kube/edit-node.ts'
import { at, type Node } from '../../kube/node.ts'
import type { Origin, Step } from '../../origin.ts'
import { refuseUnknown } from '../generate/unknown-values.ts'
import { type BuildBudget, checkObjectSize } from '../model/build-budget.ts'
import type { Replacement, ReplacementSource } from '../model/replacement.ts'
import { currentId, type Resource } from '../resource/resource.ts'
import { withoutShared } from '../resource/shared-values.ts'
import { untyped } from './edit-path.ts'
import { splitFieldPath } from './field-path.ts'
import { lookUp } from './look-up.ts'
import { idsOf, type RawId } from './resource-ids.ts'
import { retype } from './retype.ts'

type Place = readonly (string | number)[]

/**
 * What a replacement copies. kustomize copies from the object as it is at that moment, so a target that is the source
 * itself changes what later targets get; whoever writes says so with `noteWrite`.
 */
export class SourceValue {
  private node: Node
  private readonly step: Step
  /** Absent for a value of its own. */
  private live: { readonly resource: Resource; readonly place: Place } | undefined

  constructor(node: Node, step: Step, live?: { readonly resource: Resource; readonly place: Place }) {
    this.node = node
    this.step = step
    this.live = live
  }

  get type(): Node['type'] {
    return this.node.type
  }

  /** The text of a scalar; maps and lists have none. */
  get text(): string {
    return this.node.type === 'scalar' ? writtenText(this.node) : ''
  }

  get origin(): Origin {
    const { origin } = this.node
    return { ...origin, via: [...(origin.via ?? []), this.step] }
  }

  /** A copy that says through which replacement it came. Throws `render-limits` before it would be too large. */
  copy(budget: BuildBudget): Node {
    checkObjectSize(this.node, this.origin)
    budget.spendOnCopy(this.node, this.origin)
    return withoutShared(through(this.node, this.step))
  }

  noteWrite(resource: Resource, place: Place, written: Node, origin: Origin): void {
    if (this.live?.resource !== resource) return
    const source = this.live.place
    const shared = Math.min(place.length, source.length)
    if (source.slice(0, shared).some((key, index) => key !== place[index])) return
    if (place.length > source.length) {
      const message = 'replacements: copying a map or list into itself is not supported'
      throw new BailiwickError('kustomize-unsupported', message, { origin })
    }
    if (place.length === source.length) this.node = written
    else this.live = undefined
  }
}

/** Finds what a replacement copies. Throws `kustomize-invalid` where that is not exactly one value. */
export function findSource(resources: readonly Resource[], { from, step, origin }: Replacement): SourceValue {
  if ('value' in from) return new SourceValue(untyped(from.value.text, from.value.origin), step)
  const matching = resources.filter(resource => idsOf(resource).some(id => isSelected(id, from)))
  const [resource, second] = matching
  if (!resource) return invalid('replacements: source matches no object', from.origin)
  if (second) return invalid('replacements: source matches more than one object', from.origin)
  const path = splitFieldPath(from.fieldPath.text)
  const found = lookUp(resource.root, path)
  if (typeof found === 'string' || isEmpty(found.node)) {
    const { kind, name } = currentId(resource)
    return invalid(`replacements: ${kind} ${name} has no value at ${from.fieldPath.text}`, from.fieldPath.origin)
  }
  checkNotes(resource, found.place, from.fieldPath.origin)
  refuseUnknown(found.node, from.fieldPath.origin)
  const { delimiter, index } = from.options
  if (delimiter === '') return new SourceValue(found.node, step, { resource, place: found.place })
  if (found.node.type !== 'scalar')
    return invalid('replacements: options.delimiter needs a string', from.fieldPath.origin)
  const piece = writtenText(found.node).split(delimiter)[index]
  if (piece === undefined) return invalid(`replacements: options.index ${index} is out of range`, origin)
  return new SourceValue(retype(found.node, piece, found.node.origin), step)
}

/** kustomize keeps notes among the annotations; copied elsewhere they would stay in the objects. */
export function checkNotes(resource: Resource, place: Place, origin: Origin): void {
  const isAll = place[0] === 'metadata' && (place.length === 1 || (place.length === 2 && place[1] === 'annotations'))
  if (!isAll) return
  const isNoted = at(resource.root, ['metadata', 'annotations', 'config.kubernetes.io/origin']) !== undefined
  if (!resource.hasNotes && !isNoted) return
  const message = 'replacements: copying all annotations of an object that the build changed is not supported'
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Name the individual annotations.' })
}

function isSelected(id: RawId, { group, version, kind, name, namespace }: ReplacementSource): boolean {
  if (name && name.text !== id.name) return false
  if (kind && kind.text !== id.kind) return false
  if (namespace && (namespace.text || 'default') !== (id.namespace || 'default')) return false
  if (group && group.text !== id.group) return false
  return !version || version.text === id.version
}

function invalid(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
