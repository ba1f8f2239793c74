import { BailiwickError } from '../errors.ts'
import { askGit } from './run-git.ts'

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
 * that anybody may have pushed, and `git-missing` with the command that fetches it.
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
  if (/^[0-9a-f]{7,40}$/.test(ref)) return `Run: git fetch --depth=1 ${remote} ${ref}`
  const branch = ref.startsWith(`${remote}/`)
    ? ref.slice(remote.length + 1)
    : ref.replace(/^refs\/(?:heads|tags)\//, '')
  if (!/^[\w./-]+$/.test(branch) || branch.startsWith('-')) return 'Name a branch, tag or commit of this repository.'
  return `Run: git fetch --depth=1 ${remote} ${branch}:refs/remotes/${remote}/${branch}`
}
