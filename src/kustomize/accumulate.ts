import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import { type MapNode, stringAt } from '../kube/node.ts'
import type { Origin, Step } from '../kube/origin.ts'
import { BuildBudget } from './build-budget.ts'
import { BuildFiles } from './build-files.ts'
import { isInline, loadConfigs, parseEntry } from './builtin/load-configs.ts'
import { runGenerator } from './builtin/run-generator.ts'
import { runTransformer } from './builtin/run-transformer.ts'
import type { Entry } from './entry.ts'
import { BuildNotes } from './finish/build-notes.ts'
import { transformerNames } from './finish/transformer-names.ts'
import { checkDecrypted } from './generate/check-decrypted.ts'
import { generateObject } from './generate/generate-object.ts'
import type { ConfigEntry, Kustomization } from './kustomization.ts'
import { checkBuiltin } from './read/check-forbidden.ts'
import { readConfiguration } from './read/read-configuration.ts'
import { resolvePath } from './read/resolve-path.ts'
import { absorb } from './resource/absorb.ts'
import { loadResources } from './resource/load-resources.ts'
import { ResourceList } from './resource/resource-list.ts'
import { mergeConfig, SORTED_DEFAULTS, sorted } from './transform/merge-config.ts'
import type { TransformContext } from './transform/transformer.ts'
import type { TransformerConfig } from './transform/transformer-config.ts'
import { TRANSFORMERS } from './transform/transformers.ts'

/** How many directories may lead to one. */
const MAX_DEPTH = 50

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
}

/** One build: collects objects directory by directory, each kustomization transforming what is below it. */
export class Accumulation {
  readonly budget: BuildBudget
  readonly files: BuildFiles
  private readonly decrypts: boolean
  /** Both are what the root says. */
  notes = new BuildNotes({ buildMetadata: [] })
  sortOptions: Kustomization['sortOptions']

  constructor(
    tree: Tree,
    repository: string,
    { origins = true, budget = new BuildBudget(), decrypts = false }: AccumulationOptions = {},
  ) {
    this.budget = budget
    this.decrypts = decrypts
    this.files = new BuildFiles(tree, repository, this.budget, origins)
  }

  directory(directory: string): Accumulated {
    return this.root(this.files.kustomizationIn(directory, this.files.start(directory)))
  }

  root(kustomization: Kustomization): Accumulated {
    this.scan(kustomization, [])
    this.files.unseen.push(...(kustomization.unseen ?? []))
    this.notes = new BuildNotes(kustomization)
    this.sortOptions = kustomization.sortOptions
    const all: Accumulated = { resources: new ResourceList(), config: undefined }
    this.accumulate(kustomization, all, [kustomization.directory])
    return all
  }

  /** Reads everything that is reachable before building any of it: what is forbidden is said even where a build fails. */
  private scan(kustomization: Kustomization, chain: readonly string[]): void {
    const { resources, components, generators, transformers, directory } = kustomization
    for (const entry of [...generators, ...transformers]) {
      if (isInline(entry)) parseEntry(entry).documents.forEach(checkBuiltin)
      else this.scanBuiltins(directory, entry, chain)
    }
    if (this.decrypts) checkDecrypted(kustomization, this.files)
    for (const entry of [...resources, ...components]) {
      if (this.files.typeOf(directory, entry) !== 'directory') continue
      const path = resolvePath(directory, entry)
      if (chain.includes(path) || this.files.isRead(path)) continue
      checkDepth(chain, entry.origin)
      this.scan(this.files.kustomizationIn(path, entry.origin), [...chain, path])
    }
  }

  /** What configures a builtin must do nothing that is forbidden, wherever it is. */
  private scanBuiltins(directory: string, entry: Entry, chain: readonly string[]): void {
    const type = entry.text === '' ? undefined : this.files.typeOf(directory, entry)
    if (type === 'file') this.files.fileBeside(directory, entry).documents.forEach(checkBuiltin)
    if (type !== 'directory') return
    const path = resolvePath(directory, entry)
    if (chain.includes(path)) return
    checkDepth(chain, entry.origin)
    const child = this.files.kustomizationIn(path, entry.origin)
    this.scan(child, [...chain, path])
    for (const below of child.resources) this.scanBuiltins(path, below, [...chain, path])
  }

  private accumulate(kustomization: Kustomization, into: Accumulated, chain: readonly string[]): void {
    for (const entry of kustomization.resources) this.addResource(kustomization, entry, into, chain)
    this.configure(kustomization, into)
    this.generate(kustomization, into.resources, chain)
    for (const entry of kustomization.components) this.addComponent(kustomization, entry, into, chain)
    this.transform(kustomization, into, chain)
  }

  /** The configurations of one kustomization become one before they meet those of its bases. */
  private configure({ configurations, directory, file }: Kustomization, into: Accumulated): void {
    let added: TransformerConfig | undefined
    for (const entry of configurations) {
      const config = readConfiguration(this.files.fileBeside(directory, entry).documents)
      added = this.merge(added, sorted(config), entry.origin)
    }
    const origin = configurations[0]?.origin ?? this.files.start(file)
    const own = added ? this.merge(SORTED_DEFAULTS, added, origin) : SORTED_DEFAULTS
    into.config = this.merge(into.config, own, origin)
  }

  private merge(config: TransformerConfig | undefined, more: TransformerConfig, origin: Origin): TransformerConfig {
    // the defaults, which nearly everybody has, are not merged with themselves
    if ((config !== undefined && config !== SORTED_DEFAULTS) || more !== SORTED_DEFAULTS) {
      this.budget.spend('steps', 8 * ((config ? sizeOf(config) : 0) + sizeOf(more)), origin)
    }
    return mergeConfig(config, more, origin)
  }

  private generate(kustomization: Kustomization, resources: ResourceList, chain: readonly string[]): void {
    const read = (entry: Entry) => this.files.bytesBeside(kustomization.directory, entry)
    const context = { file: kustomization.file, budget: this.budget, read }
    for (const entry of [...kustomization.configMapGenerator, ...kustomization.secretGenerator]) {
      this.budget.spend('objects', 1, entry.origin)
      const made = generateObject(entry, context)
      this.notes.generated(made, kustomization.file, `${entry.kind}Generator`)
      absorb(resources, made)
    }
    for (const config of this.builtins(kustomization, kustomization.generators, chain)) {
      this.budget.spend('objects', 1, config.origin)
      const made = runGenerator(config, context)
      this.notes.generated(made, kustomization.file, stringAt(config, ['kind'])!, config)
      absorb(resources, made)
    }
  }

  private builtins(parent: Kustomization, entries: readonly ConfigEntry[], chain: readonly string[]): MapNode[] {
    const configs = loadConfigs(entries, (entry, resources) => {
      this.addResource(parent, entry, { resources, config: undefined }, chain)
    })
    configs.forEach(checkBuiltin)
    return configs
  }

  private addResource(parent: Kustomization, entry: Entry, into: Accumulated, chain: readonly string[]): void {
    const { path, type } = this.files.locate(parent.directory, entry)
    const trail: Step[] = parent.generated ? [] : [{ step: 'resource', file: parent.file, line: entry.origin.line }]
    if (type === 'file') {
      const loaded = loadResources(this.files.parse(path), trail)
      this.budget.spend('objects', loaded.length, entry.origin)
      this.notes.read(loaded, entry)
      into.resources.appendAll(loaded)
      return
    }
    const child = this.enter(path, entry, chain)
    if (child.kind === 'Component') refuse(`${path} is a Component; list it under components`, entry.origin)
    const below: Accumulated = { resources: new ResourceList(), config: undefined }
    this.notes.enter(entry)
    this.accumulate(child, below, [...chain, path])
    this.notes.leave()
    for (const resource of below.resources.all) resource.trail = [...resource.trail, ...trail]
    into.resources.appendAll(below.resources.all)
    into.config = this.merge(into.config, below.config ?? SORTED_DEFAULTS, entry.origin)
  }

  /** A component works on what its parent has so far. */
  private addComponent(parent: Kustomization, entry: Entry, into: Accumulated, chain: readonly string[]): void {
    const { path, type } = this.files.locate(parent.directory, entry)
    if (type !== 'directory') refuse(`${path} is no directory`, entry.origin)
    const child = this.enter(path, entry, chain)
    if (child.kind !== 'Component') refuse(`${path} is no Component`, entry.origin)
    this.notes.enter(entry)
    this.accumulate(child, into, [...chain, path])
    this.notes.leave()
    const step: Step = { step: 'component', file: entry.origin.file, line: entry.origin.line }
    this.budget.spend('steps', into.resources.all.length, entry.origin)
    for (const resource of into.resources.all) resource.trail = [...resource.trail, step]
    into.resources.checkUnique()
    into.config = this.merge(undefined, into.config ?? SORTED_DEFAULTS, entry.origin)
  }

  /** kustomize refuses a directory that is, or holds, one that led to it. */
  private enter(path: string, entry: Entry, chain: readonly string[]): Kustomization {
    const circular = chain.some(visited => visited === path || path === '' || visited.startsWith(`${path}/`))
    if (circular) {
      const message = `${path || 'the root'} leads back to itself`
      throw new BailiwickError('render-limits', message, { origin: entry.origin, fix: 'Break the circle.' })
    }
    this.budget.spend('directories', 1, entry.origin)
    checkDepth(chain, entry.origin)
    return this.files.kustomizationIn(path, entry.origin)
  }

  private transform(kustomization: Kustomization, into: Accumulated, chain: readonly string[]): void {
    const { resources, config } = into
    const context: TransformContext = {
      kustomization,
      config: config ?? SORTED_DEFAULTS,
      budget: this.budget,
      file: entry => this.files.fileBeside(kustomization.directory, entry),
    }
    for (const transformer of TRANSFORMERS) {
      transformer(resources, context)
      if (this.notes.wanted.length === 0) continue
      this.notes.transformed(resources.all, kustomization.file, transformerNames(transformer, kustomization))
    }
    for (const object of this.builtins(kustomization, kustomization.transformers, chain)) {
      runTransformer(object, resources, context)
      this.notes.transformedBy(resources.all, kustomization.file, object)
    }
  }
}

/** How many field specs there are. */
function sizeOf(config: TransformerConfig): number {
  const lists = Object.values(config) as readonly (readonly unknown[])[]
  return config.nameReference.reduce((sum, rule) => sum + rule.referrers.length, 0) + lists.flat().length
}

function checkDepth(chain: readonly string[], origin: Origin): void {
  if (chain.length <= MAX_DEPTH) return
  throw new BailiwickError('render-limits', `more than ${MAX_DEPTH} levels of directories in one build`, { origin })
}

function refuse(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
