import type { BailiwickError } from '../../errors.ts'
import { canonical } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import type { TransformContext } from '../fields/field.ts'
import { isSet } from '../fields/kustomization.ts'
import type { Transformer } from '../fields/registry.ts'
import { failingParts } from '../model/failing-parts.ts'
import type { Part, Tolerance } from '../model/tolerance.ts'
import type { Resource } from '../resource/resource.ts'
import { ResourceList } from '../resource/resource-list.ts'

interface LenientContext extends TransformContext {
  readonly tolerance: Tolerance
  /** Text of all that decides what an entry would do. */
  readonly hidden: (entry: unknown) => string
  /** How to put the objects back. */
  readonly changes: NonNullable<Part['changes']>
  /** Throws for an entry that may not be used. */
  readonly check: (field: string, value: unknown) => void
}

/** Applies a field without the entries that fail, or without the objects that an entry for all of them does not fit. */
export function transformLeniently(
  transformer: Transformer,
  value: unknown,
  resources: ResourceList,
  context: LenientContext,
): void {
  if (!isSet(value)) return
  const step = new Step(transformer, resources, context)
  const undo = context.changes.save()
  if (!context.tolerance.failureOf(() => step.run(resources, value))) return
  undo()
  const [, { isOneEntry = false, toEach = false }] = transformer
  const entries =
    Array.isArray(value) && !isOneEntry
      ? value.map(entry => ({ entry, alone: [entry] }))
      : [{ entry: value, alone: value }]
  for (const only of entries) step.entry(only, toEach)
}

/** One entry of a field, and the value of a field that has nothing else. */
interface Only {
  readonly entry: unknown
  readonly alone: unknown
}

class Step {
  private readonly transformer: Transformer
  private readonly resources: ResourceList
  private readonly context: LenientContext

  constructor(transformer: Transformer, resources: ResourceList, context: LenientContext) {
    this.transformer = transformer
    this.resources = resources
    this.context = context
  }

  run(resources: ResourceList, value: unknown): void {
    const [name, field] = this.transformer
    this.context.check(name, value)
    field.apply(resources, value, this.context)
  }

  entry(only: Only, toEach: boolean): void {
    const { entry, alone } = only
    const { tolerance, hidden, changes } = this.context
    const run = () => this.run(this.resources, alone)
    const hides = () => hidden([this.transformer[0], entry])
    for (const misfit of toEach ? this.misfits(only) : []) {
      const onIt = () => this.run(listOf([misfit]), alone)
      const both = () => JSON.stringify([canonical(misfit.root), hides()])
      tolerance.attempt({ effect: 'missing', hides: both, depends: true, brings: true }, onIt)
      this.resources.remove(misfit)
    }
    tolerance.attempt({ effect: 'different', hides, depends: true, changes }, run)
  }

  /** The objects that an entry does not fit; none where it is the entry that is wrong. */
  private misfits({ entry, alone }: Only): readonly Resource[] {
    const { all } = this.resources
    const error = this.failure(all, alone)
    const isOwn = !error?.origin || placesIn(entry).has(placeOf(error.origin))
    const fails = (some: readonly Resource[]) => this.failure(some, alone) !== undefined
    return isOwn ? [] : failingParts(all, fails, this.context.tolerance.enough)
  }

  private failure(resources: readonly Resource[], value: unknown): BailiwickError | undefined {
    return this.context.tolerance.failureOf(() => this.run(listOf(resources), value))
  }
}

const placeOf = ({ file, line, column }: Origin): string => `${file} ${line} ${column}`

/** Where an entry and its parts stand. */
function placesIn(entry: unknown): Set<string> {
  const places = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, part] of Object.entries(value)) {
      if (key === 'origin') places.add(placeOf(part as Origin))
      else visit(part)
    }
  }
  visit(entry)
  return places
}

/** Copies, so that the objects themselves stay as they are. */
function listOf(resources: readonly Resource[]): ResourceList {
  const list = new ResourceList()
  list.appendAll(resources.map(resource => resource.copy()))
  return list
}
