import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import type { Origin, Step } from '../kube/origin.ts'
import { type ParsedFile, parseFile } from '../kube/parse-documents.ts'
import { absorb } from './absorb.ts'
import { applyPatch, mergeByIdentity } from './apply-patches.ts'
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

/** Limits of one build, counted in steps. */
const LIMITS = { directories: 2_000, objects: 50_000, depth: 50 }

/** One build: collects objects directory by directory, each kustomization transforming what is below it. */
export class Accumulation {
  private readonly tree: Tree
  private readonly repository: string
  private readonly files = new Map<string, ParsedFile>()
  private readonly kustomizations = new Map<string, Kustomization>()
  private directories = 0
  private objects = 0

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
      this.scan(this.kustomizationIn(path, entry.origin), [...chain, path])
    }
  }

  private accumulate(kustomization: Kustomization, list: ResourceList, chain: readonly string[]): ResourceList {
    let resources = list
    for (const entry of kustomization.resources) this.addResource(kustomization, entry, resources, chain)
    for (const entry of kustomization.configMapGenerator) {
      absorb(resources, generateConfigMap(entry, kustomization.file))
      this.count(1, entry.origin)
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
      this.count(loaded.length, entry.origin)
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
    if (++this.directories > LIMITS.directories || chain.length > LIMITS.depth) {
      const message = `more than ${LIMITS.directories} directories (or ${LIMITS.depth} levels of them) in one build`
      throw new BailiwickError('render-limits', message, { origin: entry.origin })
    }
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
      for (const object of patch.objects) mergeByIdentity(resources, object, changes)
    }
    for (const entry of kustomization.patches) applyPatch(resources, entry, this.loadPatch(kustomization, entry))
    if (kustomization.namespace) setNamespace(resources, kustomization.namespace)
    for (const entry of kustomization.labels) setLabels(resources, entry)
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
    const parsed = parseFile({ repository: this.repository, path }, this.tree.read(path))
    this.files.set(path, parsed)
    return parsed
  }

  private count(objects: number, origin: Origin): void {
    this.objects += objects
    if (this.objects <= LIMITS.objects) return
    throw new BailiwickError('render-limits', `more than ${LIMITS.objects} objects in one build`, { origin })
  }
}

function missing(path: string, origin: Origin): never {
  throw new BailiwickError('kustomize-missing', `${path} does not exist`, { origin, fix: 'Correct the path.' })
}

function refuse(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
