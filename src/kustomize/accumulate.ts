import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import type { Origin, Step } from '../kube/origin.ts'
import { type ParsedFile, parseFile } from '../kube/parse-documents.ts'
import { absorb } from './absorb.ts'
import { applyPatch, mergeByIdentity } from './apply-patches.ts'
import { BuildBudget } from './build-budget.ts'
import { findKustomizationFile } from './find-kustomization.ts'
import { generateConfigMap } from './generate-config-map.ts'
import type { Entry, Kustomization, PatchEntry } from './kustomization.ts'
import { type Patch, parseInline, readPatchFile } from './load-patch.ts'
import { loadResources } from './load-resources.ts'
import { readKustomization } from './read-kustomization.ts'
import { entryAt, resolvePath } from './resolve-path.ts'
import type { Resource } from './resource.ts'
import { ResourceList } from './resource-list.ts'
import { setLabels } from './set-labels.ts'
import { setNamespace } from './set-namespace.ts'

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
    for (const entry of kustomization.configMapGenerator) {
      absorb(resources, generateConfigMap(entry, kustomization.file))
      this.budget.spend('objects', 1, entry.origin)
    }
    for (const entry of kustomization.components) resources = this.addComponent(kustomization, entry, resources, chain)
    this.transform(kustomization, resources)
    return resources
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
    result.reindex()
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
    for (const { text, node, origin } of kustomization.patchesStrategicMerge) {
      const step: Step = { step: 'patch', file: kustomization.file, line: origin.line }
      const inline = /\n|^\s*\{/.test(text)
      const file = inline ? parseInline(node) : this.patchFile(kustomization, { text, origin })
      const patch = readPatchFile(file, step)
      if (patch.type === 'json' || patch.objects.length === 0) refuse('patchesStrategicMerge holds no object', origin)
      const changes = { allowNameChange: false, allowKindChange: false, asTarget: true }
      this.spendOnAll(resources, origin)
      for (const object of patch.objects) mergeByIdentity(resources, object, changes, this.budget)
    }
    for (const entry of kustomization.patches) {
      this.spendOnAll(resources, entry.origin)
      applyPatch(resources, entry, this.loadPatch(kustomization, entry), this.budget)
    }
    if (kustomization.namespace) {
      this.spendOnAll(resources, kustomization.namespace.origin)
      setNamespace(resources, kustomization.namespace)
    }
    for (const entry of kustomization.labels) {
      this.spendOnAll(resources, entry.pairs[0]?.[1].origin ?? start(kustomization))
      setLabels(resources, entry)
    }
  }

  /** Every entry of a transformer looks at every object. */
  private spendOnAll(resources: ResourceList, origin: Origin): void {
    this.budget.spend('steps', 10 * resources.all.length + 2_000, origin)
  }

  private loadPatch(kustomization: Kustomization, entry: PatchEntry): Patch {
    const file = entry.patch ? parseInline(entry.patch) : this.patchFile(kustomization, entry.path!)
    return readPatchFile(file, entry.step)
  }

  private patchFile(kustomization: Kustomization, entry: Entry): ParsedFile {
    const path = resolvePath(kustomization.directory, entry)
    if (entryAt(this.tree, path, entry)?.type !== 'file') missing(path, entry.origin)
    return this.file(path)
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

const start = ({ file }: Kustomization): Origin => ({ repository: '', file, line: 1, column: 1 })

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
