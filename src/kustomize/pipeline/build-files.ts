import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import type { Unseen } from '../../kube/object.ts'
import { type ParsedFile, parseFile } from '../../kube/yaml/parse-documents.ts'
import type { BuildBudget } from '../build-budget.ts'
import { type Entry, STRICT, type Tolerance } from '../entry.ts'
import { type Kustomization, readKustomization, readLeniently } from '../fields/kustomization.ts'
import { refuseRemote } from '../fields/refused.ts'
import {
  entryAt,
  findKustomizationFile,
  MOUNT,
  type PinnedAddress,
  pinnedAddress,
  refusePointer,
  resolvePath,
} from '../paths.ts'
import { HiddenText } from './hidden-text.ts'

interface FileOptions {
  readonly origins?: boolean
  readonly tolerance?: Tolerance
  /** Finds repositories at a commit; without it none is at hand. */
  readonly remotes?: FindRemote | undefined
}

/** What one build reads, each file once. Every path is relative to the root of the tree. */
export class BuildFiles {
  /** Characters of what was parsed that people do not see. */
  readonly unseen: Unseen[] = []
  private readonly tree: Tree
  private readonly repository: string
  private readonly budget: BuildBudget
  private readonly origins: boolean
  private readonly tolerance: Tolerance
  private readonly hiddenText: HiddenText
  private readonly parsed = new Map<string, ParsedFile>()
  /** The id of each file that was read. */
  private readonly read = new Map<string, string>()
  /** What other builds of the same tree have parsed. */
  private readonly shared: ParsedFiles
  private readonly kustomizations = new Map<string, Kustomization>()
  /** Files that Flux decrypts in place before the build. */
  private readonly decrypted = new Set<string>()

  constructor(
    tree: Tree,
    repository: string,
    budget: BuildBudget,
    { origins = true, tolerance = STRICT, remotes }: FileOptions,
  ) {
    this.tree = remotes ? new MountedTree(tree, remotes) : tree
    this.shared = parsedFilesOf(tree)
    this.repository = repository
    this.budget = budget
    this.origins = origins
    this.tolerance = tolerance
    this.hiddenText = new HiddenText(tree, budget)
  }

  /** Start of a file (or a directory), to point at it as a whole. */
  start(file: string): Origin {
    const place = file.startsWith(MOUNT) ? this.tree.place?.(file) : undefined
    const { repository, path } = place ?? { repository: this.repository, path: file }
    return { repository, file: path, line: 1, column: 1 }
  }

  /**
   * The path of what an entry of the kustomization in `directory` names. Throws what resolvePath throws, and rule
   * `kustomize-remote-base` for a repository that is not at hand.
   */
  pathOf(directory: string, entry: Entry): string {
    const address = pinnedAddress(entry.text)
    if (!address) return resolvePath(directory, entry)
    const path = this.tree instanceof MountedTree ? this.tree.mount(address) : undefined
    if (path === undefined) return refuseRemote(entry.text, entry.origin)
    const type = path.includes('/') ? this.tree.entry(path)?.type : 'directory'
    return type === address.type ? path : missing(this.shownPath(path), entry.origin)
  }

  /** What an entry of the kustomization in `directory` names, and what that is. Throws `kustomize-missing`. */
  locate(directory: string, entry: Entry): { path: string; type: 'file' | 'directory' } {
    const path = this.pathOf(directory, entry)
    const type = this.typeOf(directory, entry)
    if (type === 'file') this.refuseOutside(directory, path, entry)
    return type === 'file' || type === 'directory' ? { path, type } : missing(this.shownPath(path), entry.origin)
  }

  /** In a repository that it has cloned, kustomize reads no file outside of the directory that names it. */
  private refuseOutside(directory: string, path: string, { origin }: Entry): void {
    if (!directory.startsWith(MOUNT) || !path.startsWith(MOUNT) || path.startsWith(`${directory}/`)) return
    const message = `${this.shownPath(path)}: outside of the directory of the remote base that refers to it`
    throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Refer to a directory.' })
  }

  /** A path as people know it. */
  shownPath(path: string): string {
    return path.startsWith(MOUNT) ? (this.tree.place?.(path)?.path ?? '') || '.' : path
  }

  /** What is there; undefined for nothing. */
  typeOf(directory: string, entry: Entry): TreeEntry['type'] | undefined {
    const path = this.pathOf(directory, entry)
    return path === '' || (path.startsWith(MOUNT) && !path.includes('/'))
      ? 'directory'
      : entryAt(this.tree, path, entry)?.type
  }

  isRead(directory: string): boolean {
    return this.kustomizations.has(directory)
  }

  /** The kustomization that an entry of the one in `directory` names, as far as it was read. */
  known(directory: string, entry: Entry): Kustomization | undefined {
    return unlessRefused(undefined, () => this.kustomizations.get(this.pathOf(directory, entry)))
  }

  /** The kustomization of a directory. Throws `kustomize-missing` and what reading it throws. */
  kustomizationIn(directory: string, origin: Origin): Kustomization {
    const known = this.kustomizations.get(directory)
    // what is taken out of it is changed by whatever leads to it
    if (known && !this.tolerance.isLenient) return known
    const file = findKustomizationFile(this.tree, directory, origin)
    if (!file) return missing(`${this.shownPath(directory) || '.'}/kustomization.yaml`, origin)
    const { documents } = this.parse(file)
    const kept = this.keptOf(file)
    const kustomization = kept?.kustomization ?? this.readKustomization(this.shownPath(file), directory, documents)
    if (kept && !this.tolerance.isLenient) kept.kustomization = kustomization
    this.kustomizations.set(directory, kustomization)
    return kustomization
  }

  private readKustomization(file: string, directory: string, documents: ParsedFile['documents']): Kustomization {
    if (!this.tolerance.isLenient) return readKustomization(file, directory, documents)
    return readLeniently(file, directory, documents, this.tolerance, part => this.hidden(directory, part))
  }

  /** Text of all that decides what a part of the kustomization in `directory` would do. */
  hidden(directory: string, part: unknown): string {
    return this.hiddenText.of(directory, part)
  }

  /** Every file that was read, with its id. */
  readFiles(): readonly (readonly [string, string])[] {
    return [...this.read].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  /** Text of all that is built from a directory. */
  hiddenBelow(directory: string): string {
    return this.hiddenText.below(directory)
  }

  /** The documents of a file that an entry of the kustomization in `directory` names. */
  fileBeside(directory: string, entry: Entry): ParsedFile {
    return this.parse(this.pathBeside(directory, entry))
  }

  /** Takes note that a file is another one by the time of the build. Throws where it was read as it is. */
  noteDecrypted(path: string, origin: Origin): void {
    if (this.parsed.has(path)) refuseDecrypted(path, origin)
    this.decrypted.add(path)
  }

  /** The same as it is; `unknown`: Flux decrypts it before the build. */
  bytesBeside(directory: string, entry: Entry): { path: string; bytes: Uint8Array; unknown: boolean } {
    const path = this.pathBeside(directory, entry)
    const bytes = this.tree.read(path)
    this.note(path)
    this.budget.spend('bytes', bytes.length, entry.origin)
    refusePointer(bytes, this.start(path))
    return { path, bytes, unknown: this.decrypted.has(path) }
  }

  /** The documents of a file. */
  parse(path: string): ParsedFile {
    const known = this.parsed.get(path)
    if (known) return known
    if (this.decrypted.has(path)) refuseDecrypted(path, this.start(path))
    this.note(path)
    const kept = this.keptOf(path)
    const file = kept?.file ?? this.parseAnew(path)
    if (kept) this.budget.spend('bytes', kept.bytes, this.start(path))
    this.parsed.set(path, file)
    if (file.unseen) this.unseen.push(...file.unseen)
    return file
  }

  private note(path: string): void {
    const id = this.tolerance.isLenient ? this.tree.entry(path)?.id : undefined
    if (id !== undefined) this.read.set(path, id)
  }

  private keptOf(path: string): Kept | undefined {
    const id = this.origins ? this.tree.entry(path)?.id : undefined
    return id === undefined ? undefined : this.shared.get(path, id, this.repository)
  }

  private parseAnew(path: string): ParsedFile {
    const bytes = this.tree.read(path)
    this.budget.spend('bytes', bytes.length, this.start(path))
    refusePointer(bytes, this.start(path))
    const name = this.tree.place?.(path) ?? { repository: this.repository, path }
    const file = parseFile(name, bytes, this.origins)
    const id = this.origins ? this.tree.entry(path)?.id : undefined
    if (id !== undefined) this.shared.set(path, { id, repository: this.repository, bytes: bytes.length, file })
    return file
  }

  private pathBeside(directory: string, entry: Entry): string {
    const { path, type } = this.locate(directory, entry)
    return type === 'file' ? path : missing(this.shownPath(path), entry.origin)
  }
}

function refuseDecrypted(path: string, origin: Origin): never {
  const message = `${path}: contains an encrypted Secret and other objects. Flux decrypts the file before the build, so the other objects are unknown`
  const fix = 'Move the Secret to its own file.'
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix })
}

function missing(path: string, origin: Origin): never {
  throw new BailiwickError('kustomize-missing', `${path}: does not exist`, {
    origin,
    fix: 'Correct the path, or restore the file.',
  })
}

/** A file that was parsed. */
interface Kept {
  readonly id: string
  /** Which repository its origins name: the same tree may stand for several. */
  readonly repository: string
  readonly bytes: number
  readonly file: ParsedFile
  /** What the file says as a kustomization, once someone has read it as one. */
  kustomization?: Kustomization
}

/**
 * The files of a tree that were parsed already, by path; each counts only as long as its git id is the same. Nodes are
 * immutable, so later builds may take them as they are.
 */
class ParsedFiles {
  private readonly kept = new Map<string, Kept>()

  get(path: string, id: string, repository: string): Kept | undefined {
    const kept = this.kept.get(path)
    return kept?.id === id && kept.repository === repository ? kept : undefined
  }

  set(path: string, kept: Kept): void {
    this.kept.set(path, kept)
  }

  /** Forgets the files that are not in `tree` any more. */
  keepOnly(tree: Tree): void {
    for (const [path, { id }] of this.kept) if (tree.entry(path)?.id !== id) this.kept.delete(path)
  }
}

const known = new WeakMap<Tree, ParsedFiles>()

/** What was parsed of a tree; it lives as long as the tree does. */
function parsedFilesOf(tree: Tree): ParsedFiles {
  let files = known.get(tree)
  if (!files) {
    files = new ParsedFiles()
    known.set(tree, files)
  }
  return files
}

/** Lets `tree` take what was parsed of `other`: a wrapper around it, or an earlier state of the same repository. */
export function shareParsed(tree: Tree, other: Tree): void {
  known.set(tree, parsedFilesOf(other))
}

/** The content of a repository at a commit; undefined where it is not at hand. */
export type FindRemote = (url: string, commit: string) => Tree | undefined

/**
 * A tree beside which others can be mounted. Their paths begin with a part that git cannot have, so that none leads from
 * one tree into another.
 */
class MountedTree implements Tree {
  readonly id: string
  private readonly own: Tree
  private readonly find: FindRemote
  private readonly mounts = new Map<string, { readonly url: string; readonly tree: Tree }>()

  constructor(own: Tree, find: FindRemote) {
    this.id = own.id
    this.own = own
    this.find = find
  }

  /** The path of what an address names, whether it is there or not; undefined where its repository is not at hand. */
  mount({ url, commit, path }: PinnedAddress): string | undefined {
    const name = `${MOUNT}${url.replaceAll('/', MOUNT)}@${commit}`
    if (!this.mounts.has(name)) {
      const tree = this.find(url, commit)
      if (!tree) return undefined
      this.mounts.set(name, { url, tree })
    }
    return path === '' ? name : `${name}/${path}`
  }

  entry(path: string) {
    const at = this.at(path)
    const found = at.tree.entry(at.path)
    return found && at.name !== '' ? { ...found, path } : found
  }

  list(path: string) {
    const at = this.at(path)
    const listed = at.tree.list(at.path)
    return at.name === '' ? listed : listed.map(entry => ({ ...entry, path: `${at.name}/${entry.path}` }))
  }

  read(path: string): Uint8Array {
    const at = this.at(path)
    return at.tree.read(at.path)
  }

  place(path: string) {
    const at = this.at(path)
    return at.tree.place?.(at.path) ?? (at.url === undefined ? undefined : { repository: at.url, path: at.path })
  }

  left(path: string) {
    const at = this.at(path)
    return at.tree.left?.(at.path)
  }

  private at(path: string): { name: string; url?: string; tree: Tree; path: string } {
    if (!path.startsWith(MOUNT)) return { name: '', tree: this.own, path }
    const slash = path.indexOf('/')
    const name = slash < 0 ? path : path.slice(0, slash)
    const mounted = this.mounts.get(name)
    if (!mounted) return { name: '', tree: this.own, path }
    return { name, ...mounted, path: slash < 0 ? '' : path.slice(slash + 1) }
  }
}
