import type { BailiwickError } from '../../errors.ts'
import { canonical } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import { commonAnnotations } from '../fields/annotations.ts'
import { images } from '../fields/images.ts'
import { jsonPatches } from '../fields/json-patches.ts'
import { labels } from '../fields/labels.ts'
import { nameAffixes } from '../fields/name-affixes.ts'
import { namespace } from '../fields/namespace.ts'
import { patches } from '../fields/patches.ts'
import { replacements } from '../fields/replacements.ts'
import { replicas } from '../fields/replicas.ts'
import { strategicMergePatches } from '../fields/strategic-merge-patches.ts'
import type { TransformContext, Transformer } from '../fields/transformer.ts'
import { EMPTY_KUSTOMIZATION } from '../model/empty-kustomization.ts'
import { failingParts } from '../model/failing-parts.ts'
import type { Kustomization } from '../model/kustomization.ts'
import type { Part, Tolerance } from '../model/tolerance.ts'
import type { Resource } from '../resource/resource.ts'
import { ResourceList } from '../resource/resource-list.ts'

/** What a transformer serves. */
interface Served {
  readonly fields: readonly (keyof Kustomization)[]
  /** It does the same to each object, so that one of them may be to blame. */
  readonly toEach?: true
}

const SERVED: ReadonlyMap<Transformer, Served> = new Map<Transformer, Served>([
  [strategicMergePatches, { fields: ['patchesStrategicMerge'] }],
  [patches, { fields: ['patches'] }],
  [namespace, { fields: ['namespace'], toEach: true }],
  [nameAffixes, { fields: ['namePrefix', 'nameSuffix'], toEach: true }],
  [labels, { fields: ['labels', 'commonLabels'], toEach: true }],
  [commonAnnotations, { fields: ['commonAnnotations'], toEach: true }],
  [jsonPatches, { fields: ['patchesJson6902'] }],
  [replicas, { fields: ['replicas'] }],
  [images, { fields: ['images'], toEach: true }],
  [replacements, { fields: ['replacements'] }],
])
/** Lists that are one entry, of pairs. */
const PAIRS: ReadonlySet<keyof Kustomization> = new Set(['commonLabels', 'commonAnnotations'])

interface LenientContext extends TransformContext {
  readonly tolerance: Tolerance
  /** Text of all that decides what an entry would do. */
  readonly hidden: (entry: unknown) => string
  /** How to put the objects back. */
  readonly changes: NonNullable<Part['changes']>
  /** Throws for an entry that may not be used. */
  readonly check: (only: Kustomization) => void
}

/** Runs a transformer without the entries that fail, or without the objects that an entry for all of them does not fit. */
export function transformLeniently(transformer: Transformer, resources: ResourceList, context: LenientContext): void {
  const { kustomization, tolerance } = context
  const { fields, toEach = false } = SERVED.get(transformer)!
  const entries = fields.flatMap(field => entriesOf(kustomization, field))
  if (entries.length === 0) return
  const step = new Step(transformer, resources, context)
  const undo = context.changes.save()
  if (!tolerance.failureOf(() => step.run(resources, kustomization))) return
  undo()
  for (const entry of entries) step.entry(entry, toEach)
}

/** One entry of a field, as a kustomization that has nothing else. */
interface Only {
  readonly entry: unknown
  readonly kustomization: Kustomization
}

function entriesOf(kustomization: Kustomization, field: keyof Kustomization): Only[] {
  const value = kustomization[field]
  const { file, directory, kind } = kustomization
  const only = (entry: unknown, fields: unknown): Only => ({
    entry: [field, entry],
    kustomization: { ...EMPTY_KUSTOMIZATION, file, directory, kind, [field]: fields },
  })
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return []
  return Array.isArray(value) && !PAIRS.has(field) ? value.map(entry => only(entry, [entry])) : [only(value, value)]
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

  run(resources: ResourceList, kustomization: Kustomization): void {
    this.context.check(kustomization)
    this.transformer(resources, { ...this.context, kustomization })
  }

  entry(only: Only, toEach: boolean): void {
    const { entry, kustomization } = only
    const { tolerance, hidden, changes } = this.context
    const run = () => this.run(this.resources, kustomization)
    const hides = () => hidden(entry)
    for (const misfit of toEach ? this.misfits(only) : []) {
      const alone = () => this.run(listOf([misfit]), kustomization)
      const both = () => JSON.stringify([canonical(misfit.root), hides()])
      tolerance.attempt({ effect: 'missing', hides: both, depends: true, brings: true }, alone)
      this.resources.remove(misfit)
    }
    tolerance.attempt({ effect: 'different', hides, depends: true, changes }, run)
  }

  /** The objects that an entry does not fit; none where it is the entry that is wrong. */
  private misfits({ entry, kustomization }: Only): readonly Resource[] {
    const { all } = this.resources
    const error = this.failure(all, kustomization)
    const isOwn = !error?.origin || placesIn(entry).has(placeOf(error.origin))
    const fails = (some: readonly Resource[]) => this.failure(some, kustomization) !== undefined
    return isOwn ? [] : failingParts(all, fails, this.context.tolerance.enough)
  }

  private failure(resources: readonly Resource[], kustomization: Kustomization): BailiwickError | undefined {
    return this.context.tolerance.failureOf(() => this.run(listOf(resources), kustomization))
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
