import { BailiwickError } from '../base/errors.ts'
import { checkPaths, checkSize, DEFAULT_LIMITS, LOCAL_LIMITS, type TreeLimits } from './entry-limits.ts'
import { statsOf } from './folder-tree.ts'
import { lazyTree } from './object-store.ts'
import { blobOf, readBlobs, smallBlobs } from './open-files.ts'
import { askGit, decodeRecords, runGit } from './run-git.ts'
import { isMode, type ListedEntry, packSnapshot, type Tree, type TreeSnapshot } from './tree.ts'
import { isWorkingCopy } from './working-copy.ts'

interface CommitSnapshot extends TreeSnapshot {
  readonly commit: string
}

/** A commit of which only what is asked for is read. */
interface CommitTree extends Tree {
  readonly commit: string
}

/**
 * What a commit of a local repository holds. `ref` may come from a person: it is looked up, never run as an option.
 * Throws `git-missing` for an unknown ref and for a folder that is not the root of its repository, `git-ambiguous`, `git-corrupt`, `render-limits`.
 */
export async function readCommit(
  dir: string,
  ref: string,
  limits: TreeLimits = DEFAULT_LIMITS,
): Promise<CommitSnapshot> {
  const { commit, tree, entries } = await listCommit(dir, ref)
  checkPaths(dir, entries)
  checkSize(
    dir,
    entries.length,
    entries.reduce((sum, entry) => sum + entry.size, 0),
    limits,
  )
  const blobs = await readBlobs(dir, idsOf(entries))
  const snapshot = packSnapshot(
    entries.map(({ path, mode, id }) => ({ path, mode, id, content: blobs.get(id) ?? new Uint8Array() })),
  )
  return { ...assertTree(snapshot, tree, commit), commit }
}

/**
 * The same, of which only what is asked for is read: its size does not matter, the number of its files is limited. What
 * `beside`, another tree of that repository, has at the same path is taken from there.
 */
export async function openCommit(
  dir: string,
  ref: string,
  beside?: Tree,
  limits: TreeLimits = LOCAL_LIMITS,
): Promise<CommitTree> {
  const { commit, tree, entries } = await listCommit(dir, ref)
  const isBeside = ({ path, id }: ListedEntry) => beside?.entry(path)?.id === id
  const blobs = await smallBlobs(dir, idsOf(entries.filter(entry => !isBeside(entry))))
  const load = (entry: ListedEntry) =>
    isBeside(entry) ? beside!.read(entry.path) : (blobs.get(entry.id) ?? blobOf(dir, entry.id))
  const opened = assertTree(lazyTree(dir, entries, load, limits), tree, commit)
  return { ...opened, commit }
}

const idsOf = (entries: readonly ListedEntry[]): string[] => [
  ...new Set(entries.filter(entry => entry.mode !== '160000').map(entry => entry.id)),
]

function assertTree<T extends { readonly id: string }>(made: T, tree: string, commit: string): T {
  if (made.id === tree) return made
  throw new BailiwickError('git-corrupt', `commit ${commit}: its files do not match the tree ${tree}`)
}

async function listCommit(dir: string, ref: string) {
  await assertRoot(dir)
  const { commit } = await resolveRef(dir, ref)
  const tree = await revision(dir, `${commit}^{tree}`)
  if (!tree) throw new BailiwickError('git-missing', `${dir}: the tree of commit ${commit} is missing`)
  return { commit, tree, entries: await listTree(dir, commit) }
}

async function listTree(dir: string, id: string) {
  const listing = await askGit(dir, ['ls-tree', '-r', '-z', '-l', '--full-tree', id])
  if (!listing) throw new BailiwickError('git-missing', `git could not list ${id} of ${dir}`)
  return decodeRecords(dir, listing).map(record => parseRecord(dir, record))
}

/** A commit is a whole repository's: compared with a folder inside of it, every path would be another. */
async function assertRoot(dir: string): Promise<void> {
  const prefix = (await statsOf(dir))?.isDirectory() && (await askGit(dir, ['rev-parse', '--show-prefix']))
  if (prefix && prefix.toString().trim() === '') return
  throw new BailiwickError('git-missing', `${dir}: not the root of a git repository`, {
    fix: 'Use the folder that contains .git. If this one does, run `git status` there.',
  })
}

async function revision(dir: string, expression: string): Promise<string | undefined> {
  const output = await askGit(dir, ['rev-parse', '--verify', '--quiet', '--end-of-options', expression])
  const id = output?.toString().trim() ?? ''
  return /^[0-9a-f]{40}$/.test(id) ? id : undefined
}

function parseRecord(dir: string, record: string): ListedEntry & { readonly size: number } {
  const tab = record.indexOf('\t')
  const [mode, , id = '', size] = record.slice(0, tab).split(/ +/)
  const path = record.slice(tab + 1)
  if (isMode(mode)) return { path, mode, id, size: Number(size) || 0 }
  throw new BailiwickError(
    'git-ambiguous',
    `${dir}: ${JSON.stringify(path)} has the unknown mode ${JSON.stringify(mode)}`,
    {
      fix: 'Commit the file again with a current version of git. Allowed modes: 100644, 100755, 120000 and 160000.',
    },
  )
}

/** A commit, and the branch that the text which named it names, too. */
interface ResolvedRef {
  readonly commit: string
  /** Full name of the ref: `refs/heads/main`, `refs/remotes/origin/main`; undefined for `HEAD`, `HEAD~1` and commit ids. */
  readonly name?: string
}

/** What may stand behind the name of a ref (gitrevisions); `@{u}` is another ref instead. */
const SUFFIX = /(?:[~^]|@\{(?!(?:u|upstream|push)\}))/i

/**
 * The commit that a person means by `ref`, which is looked up and never run as an option. A name that only the remote
 * `origin` has is that one. Throws `git-ambiguous` where a branch and a tag of that name differ, for git would take the tag
 * that any pusher may have made, and `git-missing` with the command that fetches it.
 */
export async function resolveRef(dir: string, ref: string): Promise<ResolvedRef> {
  const at = ref.search(SUFFIX)
  const [name, suffix] = at < 0 ? [ref, ''] : [ref.slice(0, at), ref.slice(at)]
  const full = await refNamed(dir, name)
  const commit = await commitOf(dir, `${full ?? name}${suffix}`)
  if (commit === undefined) throw await missing(dir, ref, full)
  return full === undefined ? { commit } : { commit, name: full }
}

async function refNamed(dir: string, name: string): Promise<string | undefined> {
  if (name === '' || name === 'HEAD' || name === '@' || /[\s*?[\\:]/.test(name)) return undefined
  if (/@\{[a-z]+\}$/i.test(name)) {
    const upstream = await askGit(dir, ['rev-parse', '--symbolic-full-name', '--verify', '--quiet', '--', name])
    return upstream?.toString().trim().split('\n').at(-1) || undefined
  }
  const wanted = name.startsWith('refs/')
    ? [name]
    : [`refs/${name}`, `refs/tags/${name}`, `refs/heads/${name}`, `refs/remotes/${name}`, `refs/remotes/origin/${name}`]
  const format = '--format=%(objectname) %(*objectname) %(refname)%00%(symref)'
  const listed = (await askGit(dir, ['for-each-ref', format, ...wanted]))?.toString().split('\n') ?? []
  const found = new Map<string, { readonly id: string; readonly to: string }>()
  for (const line of listed) {
    const [, id = '', peeled = '', ref = '', symref = ''] = /^(\S+) (\S*) ([^\0]*)\0(.*)$/.exec(line) ?? []
    if (wanted.includes(ref)) found.set(ref, { id: peeled || id, to: symref || ref })
  }
  // a person who says "main" where there is none means the remote's, and nothing else
  if (found.size > 1) found.delete(`refs/remotes/origin/${name}`)
  const ids = new Set([...found.values()].map(({ id }) => id))
  if (ids.size > 1) {
    const names = [...found.keys()]
    throw new BailiwickError(
      'git-ambiguous',
      `${JSON.stringify(name)}: ambiguous. ${names.join(' and ')} are different commits`,
      {
        fix: `Write ${names.find(one => one.startsWith('refs/heads/')) ?? names[0]}.`,
      },
    )
  }
  const first = [...found.values()].find(({ to }) => !to.startsWith('refs/tags/')) ?? [...found.values()][0]
  return first?.to
}

async function commitOf(dir: string, expression: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${expression}^{commit}`]
  const id = (await askGit(dir, args))?.toString().trim() ?? ''
  return /^[0-9a-f]{40}$/.test(id) ? id : undefined
}

/** How a clone that lacks it gets it. */
async function missing(dir: string, ref: string, full: string | undefined): Promise<BailiwickError> {
  const isShallow = (await askGit(dir, ['rev-parse', '--is-shallow-repository']))?.toString().trim() === 'true'
  const [remote] = ((await askGit(dir, ['remote']))?.toString() ?? '').split('\n')
  const shown = ref.slice(0, 200)
  const clone = isShallow ? ' (a shallow clone)' : ''
  const message = `${dir}: no commit ${JSON.stringify(shown)}${clone}`
  return new BailiwickError('git-missing', message, { fix: remedy(shown, full, isShallow, remote ?? '') })
}

function remedy(ref: string, full: string | undefined, isShallow: boolean, remote: string): string {
  if (remote === '') return 'Name a branch, tag or commit of this repository.'
  if (full !== undefined || /^(?:HEAD|@)\b/.test(ref)) {
    const deeper = `Run: git fetch --${isShallow ? 'unshallow' : 'all'} (GitHub Actions: fetch-depth: 0 of actions/checkout).`
    return isShallow ? deeper : 'Name a commit that is in the history of this repository.'
  }
  // no depth: it would make a whole clone a shallow one
  if (/^[0-9a-f]{7,40}$/.test(ref)) return `Run: git fetch ${remote} ${ref}`
  const branch = ref.startsWith(`${remote}/`)
    ? ref.slice(remote.length + 1)
    : ref.replace(/^refs\/(?:heads|tags)\//, '')
  if (!/^[\w./-]+$/.test(branch) || branch.startsWith('-')) return 'Name a branch, tag or commit of this repository.'
  return `Run: git fetch ${remote} ${branch}:refs/remotes/${remote}/${branch}`
}

const HEADS = 'refs/heads/'
const REMOTES = 'refs/remotes/'

/**
 * The branch that a ref of a person names: that of a local or a remote-tracking branch, also with `~1` or `^` behind it. A
 * local branch that no remote has under its name stands for the one that it tracks. Undefined for `HEAD`, tags and commits,
 * which name none. Throws as resolveRef.
 */
export async function namedBranch(dir: string, ref: string): Promise<string | undefined> {
  const { name } = await resolveRef(dir, ref)
  if (name?.startsWith(REMOTES)) return withoutRemote(dir, name.slice(REMOTES.length))
  if (!name?.startsWith(HEADS)) return undefined
  const own = name.slice(HEADS.length)
  const tracking = lines(await askGit(dir, ['for-each-ref', '--format=%(refname)', REMOTES]))
  const remotes = await remotesOf(dir)
  if (remotes.some(remote => tracking.includes(`${REMOTES}${remote}/${own}`))) return own
  const upstream = await askGit(dir, ['config', '--local', '--get', `branch.${own}.merge`])
  const merge = upstream?.toString().trim() ?? ''
  return merge.startsWith(HEADS) ? merge.slice(HEADS.length) : own
}

/**
 * The branch that a repository is about: that of `origin/HEAD`, else its only one, else `main`, `master` or what this
 * machine calls a first branch. Undefined where that does not decide.
 */
export async function defaultBranch(dir: string): Promise<string | undefined> {
  if (!(await isWorkingCopy(dir))) return undefined
  const ORIGIN = `${REMOTES}origin/`
  const head = (await askGit(dir, ['symbolic-ref', '--quiet', `${ORIGIN}HEAD`]))?.toString().trim()
  if (head?.startsWith(ORIGIN)) return head.slice(ORIGIN.length)
  const listed = await askGit(dir, ['for-each-ref', '--format=%(refname)', HEADS, ORIGIN])
  const names = new Set(lines(listed).map(line => line.slice((line.startsWith(HEADS) ? HEADS : ORIGIN).length)))
  const [only, ...more] = names
  if (only !== undefined && more.length === 0) return only
  const configured = (await askGit(dir, ['config', '--get', 'init.defaultBranch']))?.toString().trim()
  return ['main', 'master', configured].find(name => name !== undefined && names.has(name))
}

/** The names of the remotes of a repository. */
async function remotesOf(dir: string): Promise<string[]> {
  return lines(await askGit(dir, ['remote']))
}

/** The name of a remote may hold slashes itself. */
async function withoutRemote(dir: string, name: string): Promise<string | undefined> {
  const remotes = (await remotesOf(dir)).filter(remote => name.startsWith(`${remote}/`))
  const longest = remotes.sort((a, b) => b.length - a.length)[0] ?? name.split('/', 1)[0]!
  return name.slice(longest.length + 1) || undefined
}

const lines = (output: Buffer | undefined) => (output?.toString() ?? '').split('\n').filter(line => line !== '')

/** The names of the tags of a clone. */
export const tagsOf = async (dir: string): Promise<string[]> => lines(await askGit(dir, ['tag', '--list']))

/**
 * Whether the history of a commit only ever added files: one line, and nothing changed or deleted. Returns what is not so,
 * in words. For a shallow clone, the result notes that the history is partial.
 */
export async function additionsOnly(dir: string, commit: string): Promise<readonly string[]> {
  const format = [
    '--format=%x00%H %P',
    '--raw',
    '--no-renames',
    '--no-abbrev',
    '--root',
    '-m',
    '-z',
    '--no-show-signature',
  ]
  const { status, output } = await runGit(dir, ['log', ...format, '--end-of-options', commit, '--'])
  const found: string[] = status === 0 ? [] : ['the history cannot be read']
  for (const part of output.toString('utf8').split('\0')) {
    const [, id = '', parents = ''] = /^\n?([0-9a-f]{40}) ?((?:[0-9a-f]{40} ?)*)$/.exec(part) ?? []
    if (parents.trim().includes(' ')) found.push(`commit ${id} is a merge`)
    const [, change = 'A'] = /^\n*:\d+ \d+ [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*$/.exec(part) ?? []
    if (change !== 'A') found.push(`the history changes or deletes a file (git status ${change})`)
  }
  const { output: shallow } = await runGit(dir, ['rev-parse', '--is-shallow-repository'])
  if (shallow.toString().trim() === 'true') found.push('the clone is shallow, so the history is not complete')
  return [...new Set(found)]
}
