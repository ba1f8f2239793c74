import type { BailiwickError } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import { canonical, type Node } from '../../kube/node.ts'
import type { ParsedFile } from '../../kube/yaml/parse-documents.ts'
import { type Entry, failingParts, type Level, type Part, type Tolerance } from '../entry.ts'
import type { TransformContext } from '../fields/field.ts'
import { changingFields, isSet, type Kustomization, readsOthers } from '../fields/kustomization.ts'
import type { Transformer } from '../fields/registry.ts'
import { loadResources } from '../resource/load-resources.ts'
import type { Resource } from '../resource/resource.ts'
import { ResourceList } from '../resource/resource-list.ts'

/** What a level asks of the files of its build. */
interface LevelFiles {
  /** Text of an entry, or of fields, of a directory, and of the files that they name. */
  hidden(directory: string, part: unknown): string
  /** Text of everything below a directory that the build reads. */
  hiddenBelow(directory: string): string
  /** The kustomization that an entry names, where it was read. */
  known(directory: string, entry: Entry): Kustomization | undefined
  /** Texts of all that the build has read. */
  readFiles(): readonly unknown[]
}

/** A level of a build; nothing is known of it until its kustomization is read. */
export class KustomizationLevel implements Level {
  #kustomization: Kustomization | undefined
  #files: LevelFiles | undefined
  #changes: string | undefined

  /** It is known only after the kustomization is read. */
  is(kustomization: Kustomization, files: LevelFiles): void {
    this.#kustomization = kustomization
    this.#files = files
  }

  changes(): string {
    this.#changes ??= this.#kustomization && this.#files ? changesOf(this.#kustomization, this.#files) : ''
    return this.#changes
  }

  everything(): string {
    return JSON.stringify([this.changes(), this.#files?.readFiles() ?? []])
  }
}

/** A component changes what the kustomization that lists it has, so its fields count like that one's own. */
function changesOf(kustomization: Kustomization, files: LevelFiles, chain: readonly string[] = []): string {
  const { directory, components, resources } = kustomization
  const fields = changingFields(kustomization)
  const own = fields.length === 0 ? '' : files.hidden(directory, fields)
  const read = readsOthers(kustomization) ? files.hiddenBelow(directory) : ''
  const inner = [...chain, directory]
  const added = components.map(entry => {
    const component = files.known(directory, entry)
    const isKnown = component !== undefined && !inner.includes(component.directory)
    return isKnown ? changesOf(component, files, inner) : files.hidden(directory, entry)
  })
  const parts = [own, read, ...added, ...resources.map(entry => settingsOf(directory, entry, files, inner))]
  const settings = parts.filter(part => part !== '')
  return settings.length === 0 ? '' : JSON.stringify(settings)
}

/** Which fields transformers write to goes up from a base to what uses it, and so to all that comes from there. */
function settingsOf(directory: string, entry: Entry, files: LevelFiles, chain: readonly string[]): string {
  const base = files.known(directory, entry)
  if (!base || chain.includes(base.directory)) return ''
  const { configurations, components, resources } = base
  const own = configurations.length === 0 ? '' : files.hidden(base.directory, configurations)
  const inner = [...chain, base.directory]
  const below = [...components, ...resources].map(one => settingsOf(base.directory, one, files, inner))
  const settings = [own, ...below].filter(part => part !== '')
  return settings.length === 0 ? '' : JSON.stringify(settings)
}

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
  const step = new TransformStep(transformer, resources, context)
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

class TransformStep {
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

/** The objects of one file, without the documents that hold none that kustomize takes. */
export function loadTolerantly(file: ParsedFile, trail: readonly Step[], tolerance: Tolerance): Resource[] {
  if (!tolerance.isLenient) return loadResources(file, trail)
  const load = (documents: readonly Node[], text = '') => {
    const pieces = file.pieces - file.documents.length + documents.length
    return loadResources({ ...file, documents, pieces, text }, trail)
  }
  const fails = (documents: readonly Node[]): boolean => tolerance.failureOf(() => load(documents)) !== undefined
  const failing = new Set(failingParts(file.documents, fails, tolerance.enough))
  for (const document of failing) {
    tolerance.attempt({ effect: 'missing', hides: () => canonical(document), brings: true }, () => load([document]))
  }
  return load(
    file.documents.filter(document => !failing.has(document)),
    file.text,
  )
}
