import { hash } from 'node:crypto'
import { BailiwickError } from '../base/errors.ts'
import { type Message, message, part } from '../base/message.ts'
import { madeId, type Tree, type TreeEntry, treeOf } from '../git/tree.ts'
import { type IgnorePattern, IgnoreRules, MatchWork, PackBudget, parsePattern, parsePatterns } from './source-ignore.ts'

/** What a Flux source gives to a Kustomization: a git tree of which source-controller packs what is not ignored. */
export interface Artifact {
  /** Normalised address of the repository; goes into every origin. */
  readonly repository: string
  readonly tree: Tree
  /** `spec.ignore` of the source; absent: none. */
  readonly ignore?: string
  /** Directory of the tree that is the root of the artifact; absent: the root of the tree. Nothing else is in the tree. */
  readonly root?: string
  /** The tree is not that of the repository itself: a part of it, or with others in it. */
  readonly composed?: true
}

/** `spec.path` as SecureJoin reads it: what would leave the artifact stays at its root ('' is the root). */
export function artifactPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

const patternsOf = (lines: string): IgnorePattern[] => lines.split(',').map(line => parsePattern(line, []))

const ALWAYS = patternsOf('.git/,.gitignore,.gitmodules,.gitattributes')
const DEFAULTS = [
  ...ALWAYS,
  ...patternsOf(
    '*.jpg,*.jpeg,*.gif,*.png,*.wmv,*.flv,*.tar.gz,*.zip,.github/,.circleci/,.travis.yml,.gitlab-ci.yml,appveyor.yml,' +
      '.drone.yml,cloudbuild.yaml,codeship-services.yml,codeship-steps.yml,**/.goreleaser.yml,**/.sops.yaml,**/.flux.yaml',
  ),
]

/** Lines of ignore files in one tree, and bytes of one file. */
const MAX_PATTERNS = 5_000
const MAX_BYTES = 512 * 1024

/** What one look at an entry of a tree costs, beside one comparison. */
const LOOK = 10
/** And reading one byte of an ignore file. */
const PARSE = 10

/** Instead of `ignore`: an artifact that source-controller only copied. No YAML can say it. */
export const COPIED = '\0'

const packed = new WeakMap<Tree, Map<string | undefined, { readonly tree: Tree; readonly steps: number }>>()

/**
 * What source-controller packs of a tree: regular files that neither a `.sourceignore` (in any directory, for what is
 * below it) nor `ignore` (`spec.ignore` of the source) leaves out. Flux's own list applies only where there is neither;
 * links and submodules are dropped. Throws `flux-unsupported` for a `.sourceignore` that is not a regular UTF-8 file, and
 * `render-limits` for too many patterns, or for more work than `budget` has left. `root`: the directory that is the root of
 * the artifact, where patterns begin; of one tree it is always the same. With COPIED nothing is left out.
 */
export function packTree(tree: Tree, ignore?: string, budget = new PackBudget(), root = ''): Tree {
  const known = packed.get(tree) ?? new Map()
  packed.set(tree, known)
  const before = known.get(ignore)
  if (before) {
    budget.pay(before)
    return before.tree
  }
  const result = budget.pack(work => pack(tree, ignore, work, root === '' ? [] : root.split('/')))
  known.set(ignore, result)
  return result.tree
}

/** Lets a wrapper around what packTree gave count as packed, so that only what a rendering reads goes through it. */
export function markPacked(tree: Tree, ignore?: string): void {
  packed.set(tree, new Map([[ignore, { tree, steps: 0 }]]))
}

function pack(tree: Tree, ignore: string | undefined, work: MatchWork, domain: readonly string[]): Tree {
  const directories = new Map<string, readonly TreeEntry[]>()
  const finish = (patterns: readonly IgnorePattern[]) => {
    const id = keep({ tree, rules: new IgnoreRules(patterns, work), work, directories }, '', [])!
    return packedTree(tree, id, directories)
  }
  if (ignore === COPIED) return finish([])
  const custom: IgnorePattern[] = []
  const add = (patterns: readonly IgnorePattern[]) => {
    for (const pattern of patterns) custom.push(pattern)
    if (custom.length > MAX_PATTERNS) tooMuch(`ignore files: more than ${MAX_PATTERNS} lines`)
  }
  for (const patterns of ignoreFiles(tree, '', [], work)) add(patterns)
  if (ignore !== undefined) {
    if (ignore.length > MAX_BYTES) tooMuch(`spec.ignore: longer than ${MAX_BYTES} characters`)
    work.spend(PARSE * ignore.length)
    add(parsePatterns(ignore, domain))
  }
  const usual = (custom.length > 0 ? ALWAYS : DEFAULTS).map(pattern => ({ ...pattern, domain }))
  return finish([...usual, ...custom])
}

function* ignoreFiles(
  tree: Tree,
  directory: string,
  domain: readonly string[],
  work: MatchWork,
): Generator<IgnorePattern[]> {
  const entries = tree.list(directory)
  work.spend(LOOK + entries.length)
  const file = entries.find(entry => entry.name === '.sourceignore')
  if (file && file.type !== 'file') {
    const origin = { repository: '', file: file.path, line: 0, column: 0 }
    throw new BailiwickError('flux-unsupported', message`${part('path', file.path)}: not a regular file`, { origin })
  }
  if (file) {
    const bytes = tree.read(file.path)
    work.spend(PARSE * bytes.length)
    yield parsePatterns(decode(file.path, bytes), domain)
  }
  for (const entry of entries) {
    if (entry.type === 'directory' && entry.name !== '.git')
      yield* ignoreFiles(tree, entry.path, [...domain, entry.name], work)
  }
}

function tooMuch(what: string | Message): never {
  throw new BailiwickError('render-limits', what, { fix: 'Use fewer ignore patterns.' })
}

function decode(path: string, bytes: Uint8Array): string {
  if (bytes.length > MAX_BYTES) tooMuch(message`${part('path', path)}: larger than ${MAX_BYTES} bytes`)
  const text = Buffer.from(bytes).toString('utf8')
  if (Buffer.from(text).equals(bytes)) return text
  const origin = { repository: '', file: path, line: 0, column: 0 }
  throw new BailiwickError('flux-unsupported', message`${part('path', path)}: not valid UTF-8`, {
    origin,
    fix: 'Save the file as UTF-8.',
  })
}

interface Packing {
  readonly tree: Tree
  readonly rules: IgnoreRules
  readonly work: MatchWork
  readonly directories: Map<string, readonly TreeEntry[]>
}

/** Fills the map with what stays; the id of the directory, or undefined where nothing of it does. */
function keep(packing: Packing, directory: string, names: readonly string[]): string | undefined {
  const { tree, rules, work, directories } = packing
  const kept: TreeEntry[] = []
  work.spend(LOOK)
  for (const entry of tree.list(directory)) {
    const path = [...names, entry.name]
    work.spend(LOOK + path.length)
    if (entry.type === 'directory') {
      const id = keep(packing, entry.path, path)
      if (id === undefined) continue
      kept.push({ ...entry, id })
    } else if (entry.type === 'file' && !rules.ignores(path, false)) kept.push(entry)
  }
  if (directory !== '' && kept.length === 0 && rules.ignores(names, true)) return undefined
  directories.set(directory, kept)
  const own = tree.entry(directory)
  const whole = own && tree.list(directory).every((entry, i) => kept[i]?.id === entry.id)
  if (whole && kept.length === tree.list(directory).length) return own.id
  return madeId('packed', kept)
}

/** The part of a tree that Flux puts into an artifact: the entries of each directory. */
function packedTree(tree: Tree, id: string, directories: ReadonlyMap<string, readonly TreeEntry[]>): Tree {
  return {
    ...treeOf(id, directories, path => tree.read(path), 'artifact'),
    ...(tree.place ? { place: path => tree.place?.(path) } : {}),
    left: path => {
      const type = tree.entry(path)?.type
      return type === 'symlink' || type === 'submodule' ? type : undefined
    },
  }
}

/** What the command leaves out by default (excludeOCI of cmd/flux/build_artifact.go). */
const LEFT_OUT =
  '.git/,.gitignore,.gitmodules,.gitattributes,*.jpg,*.jpeg,*.gif,*.png,*.wmv,*.flv,*.tar.gz,*.zip'.replaceAll(
    ',',
    '\n',
  )

/**
 * What `flux push artifact --path` puts into an artifact of a folder, at the paths that it has in the repository: regular
 * files that its defaults do not leave out (build of fluxcd/pkg oci). `.sourceignore` files are pushed; they count later.
 */
export function pushedTree(tree: Tree, folder: string): Tree {
  const domain = folder === '' ? [] : folder.split('/')
  const rules = new IgnoreRules(parsePatterns(LEFT_OUT, domain), new MatchWork(Number.POSITIVE_INFINITY))
  const lists = new Map<string, readonly TreeEntry[]>()
  const keep = (directory: string, names: readonly string[]): string => {
    const kept = tree.list(directory).flatMap((entry): TreeEntry[] => {
      const path = [...names, entry.name]
      const isAbove = path.length <= domain.length
      if (isAbove && path.some((name, index) => name !== domain[index])) return []
      if (entry.type === 'directory') {
        const id = keep(entry.path, path)
        const isEmpty = lists.get(entry.path)?.length === 0
        return isEmpty && !isAbove && rules.ignores(path, true) ? [] : [{ ...entry, id }]
      }
      return entry.type === 'file' && !isAbove && !rules.ignores(path, false) ? [entry] : []
    })
    lists.set(directory, kept)
    return madeId('pushed', kept)
  }
  return packedTree(tree, tree.entry(folder)?.type === 'directory' ? keep('', []) : hash('sha1', 'pushed'), lists)
}
