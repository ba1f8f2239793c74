import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import type { Origin, Step } from '../kube/origin.ts'
import { type ParsedFile, parseFile } from '../kube/parse-documents.ts'
import { BuildBudget } from './build-budget.ts'
import { generateObject } from './generate/generate-object.ts'
import type { Entry, Kustomization } from './kustomization.ts'
import { findKustomizationFile } from './read/find-kustomization.ts'
import { readKustomization } from './read/read-kustomization.ts'
import { entryAt, resolvePath } from './read/resolve-path.ts'
import { absorb } from './resource/absorb.ts'
import { loadResources } from './resource/load-resources.ts'
import type { Resource } from './resource/resource.ts'
import { ResourceList } from './resource/resource-list.ts'
import type { TransformContext } from './transform/transformer.ts'
import { DEFAULT_CONFIG } from './transform/transformer-config.ts'
import { TRANSFORMERS } from './transform/transformers.ts'

/** How many directories may lead to one. */
const MAX_DEPTH = 50

/** One build: collects objects directory by directory, each kustomization transforming what is below it. */
export class Accumulation {
  private readonly tree: Tree
  private readonly repository: string
  private readonly files = new Map<string, ParsedFile>()
  private readonly kustomizations = new Map<string, Kustomization>()
  private readonly budget = new BuildBudget()

  constructor(tree: Tree, repository: string) {
    this.tree = tree
    this.repository = repository
  }

  directory(directory: string): readonly Resource[] {
    const start: Origin = { repository: this.repository, file: directory, line: 1, column: 1 }
    return this.root(this.kustomizationIn(directory, start))
  }

  root(kustomization: Kustomization): readonly Resource[] {
    this.scan(kustomization, [])
    return this.accumulate(kustomization, new ResourceList(), [kustomization.directory]).all
  }

  /** Reads everything that is reachable before building any of it: what is forbidden is said even where a build fails. */
  private scan(kustomization: Kustomization, chain: readonly string[]): void {
    for (const entry of [...kustomization.resources, ...kustomization.components]) {
      const path = resolvePath(kustomization.directory, entry)
      const found = entryAt(this.tree, path, entry)
      if (path !== '' && found?.type !== 'directory') continue
      if (chain.includes(path) || this.kustomizations.has(path)) continue
      checkDepth(chain, entry.origin)
      this.scan(this.kustomizationIn(path, entry.origin), [...chain, path])
    }
  }

  private accumulate(kustomization: Kustomization, list: ResourceList, chain: readonly string[]): ResourceList {
    let resources = list
    for (const entry of kustomization.resources) this.addResource(kustomization, entry, resources, chain)
    this.generate(kustomization, resources)
    for (const entry of kustomization.components) resources = this.addComponent(kustomization, entry, resources, chain)
    this.transform(kustomization, resources)
    return resources
  }

  private generate(kustomization: Kustomization, resources: ResourceList): void {
    const read = (entry: Entry) => this.bytesBeside(kustomization, entry)
    const context = { file: kustomization.file, budget: this.budget, read }
    for (const entry of [...kustomization.configMapGenerator, ...kustomization.secretGenerator]) {
      this.budget.spend('objects', 1, entry.origin)
      absorb(resources, generateObject(entry, context))
    }
  }

  private addResource(parent: Kustomization, entry: Entry, resources: ResourceList, chain: readonly string[]): void {
    const path = resolvePath(parent.directory, entry)
    const trail: Step[] = parent.generated ? [] : [{ step: 'resource', file: parent.file, line: entry.origin.line }]
    const found = path === '' ? 'directory' : entryAt(this.tree, path, entry)?.type
    if (found === 'file') {
      const loaded = loadResources(this.file(path), trail)
      this.budget.spend('objects', loaded.length, entry.origin)
      resources.appendAll(loaded)
      return
    }
    if (found !== 'directory') missing(path, entry.origin)
    const child = this.enter(path, entry, chain)
    if (child.kind === 'Component') refuse(`${path} is a Component; list it under components`, entry.origin)
    const below = this.accumulate(child, new ResourceList(), [...chain, path])
    for (const resource of below.all) resource.trail = [...resource.trail, ...trail]
    resources.appendAll(below.all)
  }

  private addComponent(parent: Kustomization, entry: Entry, resources: ResourceList, chain: readonly string[]) {
    const path = resolvePath(parent.directory, entry)
    const found = path === '' ? 'directory' : entryAt(this.tree, path, entry)?.type
    if (found !== 'directory') missing(path, entry.origin)
    const child = this.enter(path, entry, chain)
    if (child.kind !== 'Component') refuse(`${path} is no Component`, entry.origin)
    const result = this.accumulate(child, resources, [...chain, path])
    const step: Step = { step: 'component', file: parent.file, line: entry.origin.line }
    for (const resource of result.all) resource.trail = [...resource.trail, step]
    result.checkUnique()
    return result
  }

  /** kustomize refuses a directory that is, or holds, one that led to it. */
  private enter(path: string, entry: Entry, chain: readonly string[]): Kustomization {
    const circular = chain.some(visited => visited === path || path === '' || visited.startsWith(`${path}/`))
    if (circular) refuse(`${path || 'the root'} leads back to itself`, entry.origin)
    this.budget.spend('directories', 1, entry.origin)
    checkDepth(chain, entry.origin)
    return this.kustomizationIn(path, entry.origin)
  }

  private transform(kustomization: Kustomization, resources: ResourceList): void {
    const context: TransformContext = {
      kustomization,
      config: DEFAULT_CONFIG,
      budget: this.budget,
      file: entry => this.fileBeside(kustomization, entry),
    }
    for (const transformer of TRANSFORMERS) transformer(resources, context)
  }

  private fileBeside(kustomization: Kustomization, entry: Entry): ParsedFile {
    const path = resolvePath(kustomization.directory, entry)
    if (entryAt(this.tree, path, entry)?.type !== 'file') missing(path, entry.origin)
    return this.file(path)
  }

  private bytesBeside(kustomization: Kustomization, entry: Entry): { path: string; bytes: Uint8Array } {
    const path = resolvePath(kustomization.directory, entry)
    if (entryAt(this.tree, path, entry)?.type !== 'file') missing(path, entry.origin)
    const bytes = this.tree.read(path)
    this.budget.spend('bytes', bytes.length, entry.origin)
    return { path, bytes }
  }

  private kustomizationIn(directory: string, origin: Origin): Kustomization {
    const known = this.kustomizations.get(directory)
    if (known) return known
    const file = findKustomizationFile(this.tree, directory, origin)
    if (!file) missing(`${directory || '.'}/kustomization.yaml`, origin)
    const kustomization = readKustomization(file, directory, this.file(file).documents)
    this.kustomizations.set(directory, kustomization)
    return kustomization
  }

  private file(path: string): ParsedFile {
    const known = this.files.get(path)
    if (known) return known
    const bytes = this.tree.read(path)
    this.budget.spend('bytes', bytes.length, { repository: this.repository, file: path, line: 1, column: 1 })
    const parsed = parseFile({ repository: this.repository, path }, bytes)
    this.files.set(path, parsed)
    return parsed
  }
}

function checkDepth(chain: readonly string[], origin: Origin): void {
  if (chain.length <= MAX_DEPTH) return
  throw new BailiwickError('render-limits', `more than ${MAX_DEPTH} levels of directories in one build`, { origin })
}

function missing(path: string, origin: Origin): never {
  throw new BailiwickError('kustomize-missing', `${path} does not exist`, { origin, fix: 'Correct the path.' })
}

function refuse(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
