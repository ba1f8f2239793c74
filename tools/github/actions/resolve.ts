import { notFound } from '../http/http-error.ts'
import type { Repository } from '../world.ts'

/** The commit that a branch, tag, full ref or (abbreviated) id names. Undefined when nothing has that name. */
export function resolveCommit(repository: Repository, name: string): string | undefined {
  const { refs, store } = repository
  const candidates = [name, `refs/${name}`, `refs/heads/${name}`, `refs/tags/${name}`]
  for (const candidate of candidates) {
    const sha = candidate.startsWith('refs/') ? refs.get(candidate) : undefined
    if (sha) return store.tag(sha)?.object ?? sha
  }
  if (name === 'HEAD') return refs.get(`refs/heads/${repository.defaultBranch}`)
  if (/^[0-9a-f]{40}$/.test(name)) return store.commit(name)?.sha ?? store.tag(name)?.object
  if (!/^[0-9a-f]{4,39}$/.test(name)) return undefined
  const [found, ...others] = store.commitsBeginningWith(name)
  return others.length === 0 ? found : undefined
}

/** Like `resolveCommit`; throws 404. */
export function commitNamed(repository: Repository, name: string) {
  const sha = resolveCommit(repository, name)
  const commit = sha && repository.store.commit(sha)
  if (!commit) throw notFound()
  return commit
}
