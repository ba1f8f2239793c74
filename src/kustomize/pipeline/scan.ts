import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { type MapNode, through } from '../../kube/node.ts'
import { isSopsEncrypted } from '../../kube/sops.ts'
import { type ParsedFile, parseText } from '../../kube/yaml/parse-documents.ts'
import type { Entry } from '../entry.ts'
import type { ConfigEntry } from '../fields/generators.ts'
import { checkBuiltin, type Kustomization } from '../fields/kustomization.ts'
import { annotationsAsText, loadResources } from '../resource/load-resources.ts'
import type { Resource } from '../resource/resource.ts'
import { ResourceList } from '../resource/resource-list.ts'
import { toPlain } from '../resource/round-trip.ts'
import type { BuildFiles } from './build-files.ts'

/** How many directories may lead to one. */
const MAX_DEPTH = 50

/** Reads all that is reachable before building any: what is forbidden is reported even where a build fails. */
export class Scan {
  private readonly files: BuildFiles
  private readonly decrypts: boolean

  constructor(files: BuildFiles, decrypts: boolean) {
    this.files = files
    this.decrypts = decrypts
  }

  run(kustomization: Kustomization, chain: readonly string[] = []): void {
    const { resources, components, generators, transformers, directory } = kustomization
    for (const entry of [...generators, ...transformers]) {
      if (isInline(entry)) parseEntry(entry).documents.forEach(checkBuiltin)
      else this.builtins(directory, entry, chain)
    }
    if (this.decrypts) noteDecrypted(kustomization, this.files)
    for (const entry of [...resources, ...components]) {
      if (this.files.typeOf(directory, entry) !== 'directory') continue
      const path = this.files.pathOf(directory, entry)
      if (chain.includes(path) || this.files.isRead(path)) continue
      checkDepth(chain, entry.origin)
      this.run(this.files.kustomizationIn(path, entry.origin), [...chain, path])
    }
  }

  /** What configures a builtin must do nothing that is forbidden, wherever it is. */
  private builtins(directory: string, entry: Entry, chain: readonly string[]): void {
    const type = entry.text === '' ? undefined : this.files.typeOf(directory, entry)
    if (type === 'file') this.files.fileBeside(directory, entry).documents.forEach(checkBuiltin)
    if (type !== 'directory') return
    const path = this.files.pathOf(directory, entry)
    if (chain.includes(path)) return
    checkDepth(chain, entry.origin)
    const child = this.files.kustomizationIn(path, entry.origin)
    this.run(child, [...chain, path])
    for (const below of child.resources) this.builtins(path, below, [...chain, path])
  }
}

/** Throws `render-limits` for more directories that lead to one than there may be. */
export function checkDepth(chain: readonly string[], origin: Origin): void {
  if (chain.length <= MAX_DEPTH) return
  throw new BailiwickError('render-limits', `more than ${MAX_DEPTH} nested directories in one build`, { origin })
}

/**
 * The objects that entries name, as their builtins read them; those that are written in the kustomization itself come
 * first, as in kustomize. `add` puts what a path leads to into a list. Throws what reading them throws, and
 * `kustomize-invalid` for two of one kind and name.
 */
export function loadConfigs(
  entries: readonly ConfigEntry[],
  add: (entry: Entry, list: ResourceList) => void,
): MapNode[] {
  const list = new ResourceList()
  const [inline, paths] = [entries.filter(isInline), entries.filter(entry => !isInline(entry))]
  for (const entry of inline) list.appendAll(loadResources(parseEntry(entry), []))
  for (const entry of paths) if (entry.text !== '') add(entry, list)
  return list.all.map(asConfig)
}

/** Whether an entry is not a path; kustomize tries what is YAML objects as such first. */
export function isInline({ text, origin }: ConfigEntry): boolean {
  if (/\n|^\s*\{/.test(text)) return true
  if (!/^\s*(?:~|null|Null|NULL|#.*|---.*|\.\.\..*)?\s*$/.test(text) || text === '') return false
  const message = `${JSON.stringify(text)}: neither a path nor an object`
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}

/** What is written in an entry; lines of a literal block keep their place. */
function parseEntry({ node, text, origin }: ConfigEntry): ParsedFile {
  if (node.style !== 'literal') return parseText(text, () => origin)
  const indent = node.indent ?? 0
  return parseText(text, (line, column) => ({ ...origin, line: origin.line + line, column: column + indent }))
}

function asConfig(resource: Resource): MapNode {
  const root = toPlain(annotationsAsText(resource.root))
  const last = resource.trail.at(-1)
  const step = resource.current.kind.endsWith('Generator') ? 'generator' : 'transformer'
  return last ? (through(root, { ...last, step }) as MapNode) : root
}

/**
 * For a Kustomization with `spec.decryption` Flux decrypts files in place before it builds, those of Secrets and of
 * patches (kustomize-controller internal/decryptor). Takes note of what SOPS encrypted: a Secret of it has unknown
 * values. Throws `kustomize-unsupported` for a patch: what the build would make of it is not known here.
 */
export function noteDecrypted(
  { directory, secretGenerator, patches }: Pick<Kustomization, 'directory' | 'secretGenerator' | 'patches'>,
  files: BuildFiles,
): void {
  for (const entry of patches.flatMap(({ path }) => path ?? [])) {
    const path = encryptedPath(directory, entry, files)
    if (path === undefined) continue
    const message = `patch ${path}: encrypted, so what it changes is unknown`
    const fix = 'Write the patch in plain text, or list the encrypted Secret under `resources`.'
    throw new BailiwickError('kustomize-unsupported', message, { origin: entry.origin, fix, sealed: path })
  }
  const sources = secretGenerator.flatMap(entry => entry.files)
  const named = sources.map(({ text, origin }) => ({ text: text.slice(text.indexOf('=') + 1), origin }))
  for (const entry of [...named, ...secretGenerator.flatMap(one => one.envs)]) {
    const path = encryptedPath(directory, entry, files)
    if (path !== undefined) files.noteDecrypted(path, entry.origin)
  }
}

function encryptedPath(directory: string, entry: Entry, files: BuildFiles): string | undefined {
  if (entry.text === '' || files.typeOf(directory, entry) !== 'file') return undefined
  const { path, bytes } = files.bytesBeside(directory, entry)
  return isSopsEncrypted(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) ? path : undefined
}
