import { resolveRef } from './resolve-ref.ts'
import { askGit } from './run-git.ts'
import { isWorkingCopy } from './working-copy.ts'

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
