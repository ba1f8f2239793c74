import { BailiwickError } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import type { Tree } from '../../git/tree.ts'
import { type MapNode, stringAt } from '../../kube/node.ts'
import type { UnmatchedPatch } from '../../kube/object.ts'
import { BuildBudget } from '../build-budget.ts'
import { type Entry, type Part, type PatchEntry, STRICT, type Target, type Tolerance } from '../entry.ts'
import { mergeConfig, readConfiguration, SORTED_DEFAULTS, sorted } from '../fields/configurations.ts'
import type { TransformContext } from '../fields/field.ts'
import type { ConfigEntry } from '../fields/generators.ts'
import { checkBuiltin, type Kustomization } from '../fields/kustomization.ts'
import { TRANSFORMERS } from '../fields/registry.ts'
import type { TransformerConfig } from '../fields/transformer-config.ts'
import { MOUNT } from '../paths.ts'
import type { Resource } from '../resource/resource.ts'
import { absorb, ResourceList } from '../resource/resource-list.ts'
import { BuildFiles, type FindRemote } from './build-files.ts'
import { BuildNotes } from './build-notes.ts'
import { runGenerator, runTransformer } from './builtins.ts'
import { generateObject } from './generate-object.ts'
import { KustomizationLevel, loadTolerantly, transformLeniently } from './lenient-transform.ts'
import { checkDepth, isInline, loadConfigs, noteDecrypted, Scan } from './scan.ts'

/** Objects, and the fields that transformers write to: both go up from a base to what uses it. */
export interface Accumulated {
  readonly resources: ResourceList
  config: TransformerConfig | undefined
}

export interface AccumulationOptions {
  /** False: no value knows its place, for a measurement of what knowing it costs. */
  readonly origins?: boolean
  /** What the build may use up, where several builds share it. */
  readonly budget?: BuildBudget
  /** Flux decrypts files before it builds; without, an encrypted file is a file as any other. */
  readonly decrypts?: boolean
  /** Whether parts that fail are taken out. */
  readonly tolerance?: Tolerance
  /** Stands for the root, of which parts may have been taken out when it was read. */
  readonly level?: KustomizationLevel
  /** Finds repositories at a commit that entries name; without it none is at hand. */
  readonly remotes?: FindRemote | undefined
}

/** One build: collects objects directory by directory, each kustomization transforming what is below it. */
export class Accumulation {
  readonly budget: BuildBudget
  readonly files: BuildFiles
  readonly tolerance: Tolerance
  readonly targets = new PatchTargets()
  private readonly configuration: Configuration
  private readonly decrypts: boolean
  private readonly level: KustomizationLevel | undefined
  /** Both are settings of the root. */
  notes = new BuildNotes({ buildMetadata: [] })
  sortOptions: Kustomization['sortOptions']

  constructor(tree: Tree, repository: string, options: AccumulationOptions = {}) {
    const { budget = new BuildBudget(), decrypts = false, tolerance = STRICT } = options
    this.tolerance = tolerance
    this.budget = budget
    this.decrypts = decrypts
    this.level = options.level
    this.files = new BuildFiles(tree, repository, this.budget, options)
    this.configuration = new Configuration(this.files, budget, tolerance)
  }

  directory(directory: string): Accumulated {
    return this.root(this.files.kustomizationIn(directory, this.files.start(directory)))
  }

  root(kustomization: Kustomization): Accumulated {
    // a lenient build meets each part anyway, and may do without it
    if (!this.tolerance.isLenient) new Scan(this.files, this.decrypts).run(kustomization)
    this.files.unseen.push(...(kustomization.unseen ?? []))
    this.notes = new BuildNotes(kustomization)
    this.sortOptions = kustomization.sortOptions
    const all: Accumulated = { resources: new ResourceList(this.tolerance), config: undefined }
    this.level?.is(kustomization, this.files)
    this.accumulate(kustomization, all, [kustomization.directory])
    return all
  }

  private accumulate(kustomization: Kustomization, into: Accumulated, chain: readonly string[]): void {
    const level = new KustomizationLevel()
    level.is(kustomization, this.files)
    this.tolerance.within(level, () => this.accumulateParts(kustomization, into, chain))
  }

  private accumulateParts(kustomization: Kustomization, into: Accumulated, chain: readonly string[]): void {
    const { tolerance } = this
    for (const entry of kustomization.resources) {
      const part = this.bringing(kustomization, entry, 'missing')
      tolerance.attempt(part, () => this.addResource(kustomization, entry, into, chain))
    }
    into.config = this.configuration.with(into.config, kustomization)
    this.generate(kustomization, into.resources, chain)
    for (const entry of kustomization.components) {
      const part = this.bringing(kustomization, entry, 'different')
      tolerance.attempt(part, () => this.addComponent(kustomization, entry, into, chain))
    }
    this.transform(kustomization, into, chain)
  }

  private partOf({ directory }: Kustomization, entry: unknown, effect: Part['effect']): Part {
    return { effect, hides: () => this.files.hidden(directory, entry) }
  }

  private bringing(kustomization: Kustomization, entry: unknown, effect: Part['effect']): Part {
    return { ...this.partOf(kustomization, entry, effect), brings: true }
  }

  /** How to put objects back, which costs a look at each. */
  private saving(resources: ResourceList, origin: Origin): Pick<Part, 'changes'> {
    if (!this.tolerance.isLenient) return {}
    const save = () => {
      this.budget.spend('steps', resources.all.length, origin)
      return resources.save()
    }
    return { changes: { save } }
  }

  private generate(kustomization: Kustomization, resources: ResourceList, chain: readonly string[]): void {
    const read = (entry: Entry) => this.files.bytesBeside(kustomization.directory, entry)
    const context = { file: kustomization.file, budget: this.budget, read }
    const add = (entry: unknown, origin: Origin, make: () => Resource) => {
      const part = this.bringing(kustomization, entry, 'different')
      this.tolerance.attempt({ ...part, depends: true }, () => {
        this.budget.spend('objects', 1, origin)
        absorb(resources, make())
      })
    }
    for (const entry of [...kustomization.configMapGenerator, ...kustomization.secretGenerator]) {
      add(entry, entry.origin, () => {
        const secretGenerator = entry.kind === 'Secret' ? [entry] : []
        this.noteDecrypted({ ...kustomization, secretGenerator, patches: [] })
        const made = generateObject(entry, context)
        this.notes.generated(made, kustomization.file, `${entry.kind}Generator`)
        return made
      })
    }
    for (const config of this.builtins(kustomization, kustomization.generators, chain)) {
      add(config, config.origin, () => {
        const made = runGenerator(config, context)
        this.notes.generated(made, kustomization.file, stringAt(config, ['kind'])!, config)
        return made
      })
    }
  }

  /** Without leniency the scan has asked already. */
  private noteDecrypted(only: Parameters<typeof noteDecrypted>[0]): void {
    if (this.decrypts && this.tolerance.isLenient) noteDecrypted(only, this.files)
  }

  private builtins(parent: Kustomization, entries: readonly ConfigEntry[], chain: readonly string[]): MapNode[] {
    if (entries.length === 0) return []
    const load = (some: readonly ConfigEntry[]) => {
      const configs = loadConfigs(some, (entry, resources) => {
        this.addResource(parent, entry, { resources, config: undefined }, chain)
      })
      configs.forEach(checkBuiltin)
      return configs
    }
    if (!this.tolerance.isLenient) return load(entries)
    const part = (entry: ConfigEntry) => this.bringing(parent, entry, 'different')
    const kept = entries.filter(entry => this.tolerance.attempt(part(entry), () => [isInline(entry)]))
    const ordered = [...kept.filter(isInline), ...kept.filter(entry => !isInline(entry))]
    return ordered.flatMap(entry => this.tolerance.attempt(part(entry), () => load([entry])) ?? [])
  }

  /** Where an entry is; of what comes from another repository kustomize would note that. */
  private locate(directory: string, entry: Entry) {
    const found = this.files.locate(directory, entry)
    if (!found.path.startsWith(MOUNT) || this.notes.wanted.length === 0) return found
    const message = 'buildMetadata: not supported together with a remote base'
    throw new BailiwickError('kustomize-unsupported', message, { origin: entry.origin })
  }

  private addResource(parent: Kustomization, entry: Entry, into: Accumulated, chain: readonly string[]): void {
    const { path, type } = this.locate(parent.directory, entry)
    const trail: Step[] = parent.generated ? [] : [{ step: 'resource', file: parent.file, line: entry.origin.line }]
    if (type === 'file') {
      const loaded = loadTolerantly(this.files.parse(path), trail, this.tolerance)
      this.budget.spend('objects', loaded.length, entry.origin)
      if (loaded.length === 0) this.targets.noteEmptyFile(parent)
      this.notes.read(loaded, entry)
      into.resources.appendAll(loaded)
      return
    }
    const child = this.enter(path, entry, chain)
    if (child.kind === 'Component')
      refuse(`resources: ${this.files.shownPath(path)} is a Component. List it under components`, entry.origin)
    const below: Accumulated = { resources: new ResourceList(this.tolerance), config: undefined }
    this.notes.enter(entry)
    this.accumulate(child, below, [...chain, path])
    this.notes.leave()
    for (const resource of below.resources.all) resource.trail = [...resource.trail, ...trail]
    into.resources.appendAll(below.resources.all)
    into.config = this.configuration.merge(into.config, below.config ?? SORTED_DEFAULTS, entry.origin)
  }

  /** A component works on what its parent has so far. */
  private addComponent(parent: Kustomization, entry: Entry, into: Accumulated, chain: readonly string[]): void {
    const { path, type } = this.locate(parent.directory, entry)
    if (type !== 'directory') refuse(`components: ${this.files.shownPath(path)} is not a directory`, entry.origin)
    const child = this.enter(path, entry, chain)
    if (child.kind !== 'Component')
      refuse(`components: ${this.files.shownPath(path)} is a Kustomization. List it under resources`, entry.origin)
    this.notes.enter(entry)
    this.accumulate(child, into, [...chain, path])
    this.notes.leave()
    const step: Step = { step: 'component', file: entry.origin.file, line: entry.origin.line }
    this.budget.spend('steps', into.resources.all.length, entry.origin)
    for (const resource of into.resources.all) resource.trail = [...resource.trail, step]
    into.resources.checkUnique()
    into.config = this.configuration.merge(undefined, into.config ?? SORTED_DEFAULTS, entry.origin)
  }

  /** kustomize refuses a directory that is, or holds, one that led to it. */
  private enter(path: string, entry: Entry, chain: readonly string[]): Kustomization {
    const circular = chain.some(visited => visited === path || path === '' || visited.startsWith(`${path}/`))
    if (circular) {
      const message = `${this.files.shownPath(path) || 'the root'}: includes itself`
      throw new BailiwickError('render-limits', message, {
        origin: entry.origin,
        refused: true,
        fix: 'Remove the entry that leads back.',
      })
    }
    this.budget.spend('directories', 1, entry.origin)
    checkDepth(chain, entry.origin)
    const level = new KustomizationLevel()
    const kustomization = this.tolerance.within(level, () => this.files.kustomizationIn(path, entry.origin))
    level.is(kustomization, this.files)
    return kustomization
  }

  private transform(kustomization: Kustomization, into: Accumulated, chain: readonly string[]): void {
    const { resources, config } = into
    const { tolerance } = this
    const context: TransformContext = {
      writtenIn: kustomization.file,
      directory: kustomization.directory,
      config: config ?? SORTED_DEFAULTS,
      budget: this.budget,
      file: entry => this.files.fileBeside(kustomization.directory, entry),
      selected: (patch, count) => this.targets.note(patch, kustomization, count),
    }
    const saving = this.saving(resources, this.files.start(kustomization.file))
    const lenient = saving.changes && {
      ...context,
      tolerance,
      changes: saving.changes,
      hidden: (entry: unknown) => this.files.hidden(kustomization.directory, entry),
      check: (name: string, value: unknown) =>
        this.noteDecrypted({ directory: kustomization.directory, secretGenerator: [], patches: [], [name]: value }),
    }
    for (const transformer of TRANSFORMERS) {
      const [name, field] = transformer
      const value = kustomization[name]
      if (lenient) transformLeniently(transformer, value, resources, lenient)
      else field.apply(resources, value, context)
    }
    for (const object of this.builtins(kustomization, kustomization.transformers, chain)) {
      const part = this.partOf(kustomization, object, 'different')
      tolerance.attempt({ ...part, ...saving, depends: true }, () => runTransformer(object, resources, context))
    }
  }
}

function refuse(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}

/** How the fields that transformers write to come together in one build. */
class Configuration {
  private readonly files: BuildFiles
  private readonly budget: BuildBudget
  private readonly tolerance: Tolerance

  constructor(files: BuildFiles, budget: BuildBudget, tolerance: Tolerance) {
    this.files = files
    this.budget = budget
    this.tolerance = tolerance
  }

  /** The configurations of one kustomization become one before they meet those of its bases. */
  with(before: TransformerConfig | undefined, kustomization: Kustomization): TransformerConfig {
    const { configurations, directory, file } = kustomization
    const { tolerance } = this
    const part = (entries: unknown): Part => ({
      effect: 'different',
      hides: () => this.files.hidden(directory, entries),
    })
    let added: TransformerConfig | undefined
    for (const entry of configurations) {
      const read = () => {
        const config = readConfiguration(this.files.fileBeside(directory, entry).documents)
        return this.merge(added, sorted(config), entry.origin)
      }
      added = tolerance.attempt(part(entry), read) ?? added
    }
    const origin = configurations[0]?.origin ?? this.files.start(file)
    const all = () => {
      const own = added ? this.merge(SORTED_DEFAULTS, added, origin) : SORTED_DEFAULTS
      return this.merge(before, own, origin)
    }
    return tolerance.attempt(part(configurations), all) ?? this.merge(before, SORTED_DEFAULTS, origin)
  }

  /** Throws `kustomize-invalid` where the two disagree. */
  merge(config: TransformerConfig | undefined, more: TransformerConfig, origin: Origin): TransformerConfig {
    // the defaults, which nearly everybody has, are not merged with themselves
    if ((config !== undefined && config !== SORTED_DEFAULTS) || more !== SORTED_DEFAULTS) {
      this.budget.spend('steps', 8 * ((config ? sizeOf(config) : 0) + sizeOf(more)), origin)
    }
    return mergeConfig(config, more, origin)
  }
}

/** How many field specs there are. */
function sizeOf(config: TransformerConfig): number {
  const lists = Object.values(config) as readonly (readonly unknown[])[]
  return config.nameReference.reduce((sum, rule) => sum + rule.referrers.length, 0) + lists.flat().length
}

/** What the targets of a build's patches selected. kustomize does not report one that selects nothing. */
class PatchTargets {
  readonly #found = new Map<string, UnmatchedPatch & { matched: boolean }>()

  readonly #incomplete = new Set<string>()

  /** A file of `kustomization` has no objects: `flux bootstrap` fills in gotk-components.yaml after its patches are written. */
  noteEmptyFile({ file }: Pick<Kustomization, 'file'>): void {
    this.#incomplete.add(file)
  }

  /** A patch of `kustomization` selected `count` objects, here; a component may be used, and so patch, in several places. */
  note(
    { origin, target, step }: Pick<PatchEntry, 'origin' | 'target' | 'step'>,
    { file, kind }: Pick<Kustomization, 'file' | 'kind'>,
    count: number,
  ): void {
    const isForAny = kind === 'Component' || step.step === 'flux-patch'
    if (!target || this.#incomplete.has(file) || (isForAny && !/^[\w.-]+$/.test(target.name?.text ?? ''))) return
    const key = JSON.stringify([origin.repository, origin.file, origin.line, origin.column])
    const known = this.#found.get(key)
    if (!known) this.#found.set(key, { origin, target: textOf(target), matched: count > 0 })
    else if (count > 0) known.matched = true
  }

  /**
   * The entries whose target selected nothing in the whole build. What a component or a Flux Kustomization patches without a
   * name is for whatever there is, and may be nothing.
   */
  unmatched(): UnmatchedPatch[] {
    return [...this.#found.values()].flatMap(({ origin, target, matched }) => (matched ? [] : [{ origin, target }]))
  }
}

/** `kind: Deployment, name: web` */
function textOf(target: Target): string {
  return Object.entries(target)
    .map(([field, entry]: [string, { readonly text: string }]) => `${field}: ${entry.text}`)
    .join(', ')
}
