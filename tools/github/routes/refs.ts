import { moveRef } from '../actions/move-ref.ts'
import { mayPush } from '../actions/protection.ts'
import { isAncestor } from '../git/graph.ts'
import { flag, requiredText } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, noContent, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { nodeId } from '../json/node-id.ts'
import { fullName, type Repository, senderOf, type World } from '../world.ts'

/** git/ref, git/refs, git/matching-refs. */
export function refRoutes(): Route[] {
  return [
    onRepository('GET', '/git/ref/{ref}', 'contents:read', 'read', call => {
      const ref = `refs/${call.params.ref}`
      if (!call.repo.refs.has(ref)) throw notFound()
      return ok(refJson(call.world, call.repo, ref))
    }),
    onRepository('GET', '/git/matching-refs/{ref}', 'contents:read', 'read', call => {
      const refs = [...call.repo.refs.keys()].filter(ref => ref.startsWith(`refs/${call.params.ref}`)).sort()
      return ok(refs.map(ref => refJson(call.world, call.repo, ref)))
    }),
    onRepository('POST', '/git/refs', 'contents:write', 'write', createRef),
    onRepository('PATCH', '/git/refs/{ref}', 'contents:write', 'write', updateRef),
    onRepository('DELETE', '/git/refs/{ref}', 'contents:write', 'write', deleteRef),
    onRepository('GET', '/tags', 'metadata:read', 'read', call => {
      const tags = [...call.repo.refs].filter(([ref]) => ref.startsWith('refs/tags/'))
      return list(call, tags, ([ref, sha]) =>
        tagJson(call.world, call.repo, ref.slice('refs/tags/'.length), commitOf(call.repo, sha)),
      )
    }),
  ]
}

function createRef(call: RepositoryCall) {
  const { repo, world } = call
  const ref = requiredText(call.body, 'ref')
  const sha = requiredText(call.body, 'sha')
  if (!/^refs\/(heads|tags)\/[^\s~^:?*[\\]+$/.test(ref) || ref.includes('..') || ref.endsWith('.lock')) {
    throw new HttpError(422, `${ref} is not a valid ref name.`)
  }
  const isTag = ref.startsWith('refs/tags/') && repo.store.tag(sha)
  if (!repo.store.commit(sha) && !isTag) throw new HttpError(422, 'Object does not exist')
  if (repo.refs.has(ref)) throw new HttpError(422, 'Reference already exists')
  if (ref.startsWith('refs/heads/')) mayPush(world, repo, ref.slice('refs/heads/'.length), sha, call.actor)
  moveRef(world, repo, ref, sha, senderOf(call.actor))
  return created(refJson(world, repo, ref))
}

function updateRef(call: RepositoryCall) {
  const { repo, world } = call
  const ref = writable(repo, `refs/${call.params.ref}`)
  const sha = requiredText(call.body, 'sha')
  const before = repo.refs.get(ref)
  if (before === undefined) throw new HttpError(422, 'Reference does not exist')
  if (!repo.store.commit(sha)) throw new HttpError(422, 'Object does not exist')
  if (!flag(call.body, 'force') && !isAncestor(repo.store, before, sha)) {
    throw new HttpError(422, 'Update is not a fast forward')
  }
  if (ref.startsWith('refs/heads/')) mayPush(world, repo, ref.slice('refs/heads/'.length), sha, call.actor)
  moveRef(world, repo, ref, sha, senderOf(call.actor))
  return ok(refJson(world, repo, ref))
}

function deleteRef(call: RepositoryCall) {
  const { repo, world } = call
  const ref = writable(repo, `refs/${call.params.ref}`)
  if (!repo.refs.has(ref)) throw new HttpError(422, 'Reference does not exist')
  if (ref.startsWith('refs/heads/')) mayPush(world, repo, ref.slice('refs/heads/'.length), undefined, call.actor)
  moveRef(world, repo, ref, undefined, senderOf(call.actor))
  return noContent()
}

function writable(repository: Repository, ref: string): string {
  if (!ref.startsWith('refs/pull/')) return ref
  throw new HttpError(422, `${ref} of ${fullName(repository)} is read-only`)
}

function refJson(world: World, repository: Repository, ref: string) {
  const git = `${world.url}/repos/${fullName(repository)}/git`
  const sha = repository.refs.get(ref) ?? ''
  const type = repository.store.tag(sha) ? 'tag' : 'commit'
  const object = { sha, type, url: `${git}/${type}s/${sha}` }
  return { ref, node_id: nodeId('REF', `${repository.id}:${ref}`), url: `${git}/${ref}`, object }
}

const commitOf = (repository: Repository, sha: string) => repository.store.tag(sha)?.object ?? sha

function tagJson(world: World, repository: Repository, name: string, sha: string) {
  const url = `${world.url}/repos/${fullName(repository)}`
  const balls = { zipball_url: `${url}/zipball/refs/tags/${name}`, tarball_url: `${url}/tarball/refs/tags/${name}` }
  return { name, commit: { sha, url: `${url}/commits/${sha}` }, ...balls, node_id: nodeId('REF', `tag:${name}`) }
}
