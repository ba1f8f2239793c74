import { resolveCommit } from '../actions/resolve.ts'
import type { FileEntry, FileMode } from '../git/store.ts'
import { flatten, walk, writeTree } from '../git/trees.ts'
import { object, objects, requiredText, text, texts } from '../http/body.ts'
import { HttpError, invalid, notFound } from '../http/http-error.ts'
import { created, ok, onRepository, type RepositoryCall, type Route, rawReply } from '../http/route.ts'
import { emailOf, gitCommitJson } from '../json/commit.ts'
import { nodeId } from '../json/node-id.ts'
import { fullName, now, senderOf } from '../world.ts'

/** GitHub's limit on a recursive tree (docs, "Get a tree"). */
const MOST_ENTRIES = 100_000

/** git/commits, git/trees, git/blobs. */
export function gitObjectRoutes(): Route[] {
  return [
    onRepository('GET', '/git/commits/{commit_sha}', 'contents:read', 'read', call => {
      const commit = call.repo.store.commit(call.params.commit_sha ?? '')
      if (!commit) throw notFound()
      return ok(gitCommitJson(call.world, call.repo, commit))
    }),
    onRepository('POST', '/git/commits', 'contents:write', 'write', createCommit),
    onRepository('GET', '/git/trees/{tree_sha}', 'contents:read', 'read', getTree),
    onRepository('POST', '/git/trees', 'contents:write', 'write', createTree),
    onRepository('GET', '/git/blobs/{file_sha}', 'contents:read', 'read', getBlob),
    onRepository('POST', '/git/blobs', 'contents:write', 'write', call => {
      const encoding = text(call.body, 'encoding') === 'base64' ? 'base64' : 'utf8'
      const sha = call.repo.store.put('blob', Buffer.from(requiredText(call.body, 'content'), encoding))
      return created({ sha, url: `${gitUrl(call)}/blobs/${sha}` })
    }),
  ]
}

const gitUrl = (call: RepositoryCall) => `${call.world.url}/repos/${fullName(call.repo)}/git`

function createCommit(call: RepositoryCall) {
  const { store } = call.repo
  const tree = requiredText(call.body, 'tree')
  const parents = texts(call.body, 'parents') ?? []
  if (!store.tree(tree)) throw new HttpError(422, 'Tree SHA does not exist')
  if (parents.some(parent => !store.commit(parent)))
    throw new HttpError(422, 'Parent SHA does not exist or is not a commit')
  const author = signature(call, 'author') ?? ownSignature(call)
  const committer = signature(call, 'committer') ?? author
  const sha = store.putCommit({ tree, parents, author, committer, message: requiredText(call.body, 'message') })
  // GitHub signs what an App commits in its own name
  const isOwn = signature(call, 'author') === undefined && signature(call, 'committer') === undefined
  if (isOwn && call.actor.kind === 'installation') store.signed.add(sha)
  return created(gitCommitJson(call.world, call.repo, store.commit(sha)!))
}

function signature(call: RepositoryCall, field: string) {
  const given = object(call.body, field)
  if (!given) return undefined
  const date = text(given, 'date') ?? now()
  return { name: text(given, 'name') ?? '', email: text(given, 'email') ?? '', date }
}

function ownSignature(call: RepositoryCall) {
  const user = senderOf(call.actor)
  return { name: user.login, email: emailOf(user), date: now() }
}

function getTree(call: RepositoryCall) {
  const { store } = call.repo
  const name = call.params.tree_sha ?? ''
  const commit = resolveCommit(call.repo, name)
  const sha = commit ? store.commit(commit)!.tree : name
  const items = store.tree(sha)
  if (!items) throw notFound()
  const recursive = call.query.has('recursive')
  const all = recursive ? [...walk(store, sha)] : items.map(item => ({ path: item.name, item }))
  const tree = all.slice(0, MOST_ENTRIES).map(({ path, item }) => {
    const mode = item.mode.padStart(6, '0')
    if (item.mode === '160000') return { path, mode, type: 'commit', sha: item.sha }
    if (item.mode === '40000')
      return { path, mode, type: 'tree', sha: item.sha, url: `${gitUrl(call)}/trees/${item.sha}` }
    const size = store.blob(item.sha)?.length
    return { path, mode, type: 'blob', sha: item.sha, size, url: `${gitUrl(call)}/blobs/${item.sha}` }
  })
  return ok({ sha, url: `${gitUrl(call)}/trees/${sha}`, tree, truncated: all.length > MOST_ENTRIES })
}

function createTree(call: RepositoryCall) {
  const { store } = call.repo
  const base = text(call.body, 'base_tree')
  const baseTree = base && (store.commit(base)?.tree ?? base)
  if (baseTree && !store.tree(baseTree)) throw new HttpError(422, 'base_tree is not a valid tree oid')
  const files = baseTree ? flatten(store, baseTree) : new Map<string, FileEntry>()
  for (const item of objects(call.body, 'tree')) {
    const path = text(item, 'path') ?? ''
    if (path === '' || path.split('/').some(name => ['', '.', '..', '.git'].includes(name))) {
      throw new HttpError(422, 'tree.path contains a malformed path component')
    }
    const removed = remove(files, path)
    if (item.sha === null && !removed) throw new HttpError(422, 'GitRPC::BadObjectState')
    if (item.sha === null) continue
    for (const [name, entry] of entries(call, path, item)) files.set(name, entry)
  }
  const sha = writeTree(store, files)
  const tree = store.tree(sha)!.map(({ name, mode, sha: id }) => {
    const type = mode === '40000' ? 'tree' : mode === '160000' ? 'commit' : 'blob'
    return { path: name, mode: mode.padStart(6, '0'), type, sha: id, url: `${gitUrl(call)}/${type}s/${id}` }
  })
  return created({ sha, url: `${gitUrl(call)}/trees/${sha}`, tree, truncated: false })
}

/** Makes room at `path`: what is there or below goes, and a file that would have to be a directory. */
function remove(files: Map<string, FileEntry>, path: string): boolean {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) files.delete(path.slice(0, at))
  if (files.delete(path)) return true
  const below = [...files.keys()].filter(name => name.startsWith(`${path}/`))
  for (const name of below) files.delete(name)
  return below.length > 0
}

function entries(call: RepositoryCall, path: string, item: Readonly<Record<string, unknown>>) {
  const { store } = call.repo
  const mode = text(item, 'mode') ?? '100644'
  const content = text(item, 'content')
  const sha = content === undefined ? text(item, 'sha') : store.put('blob', Buffer.from(content))
  if (sha === undefined) throw invalid('Tree', 'sha', 'Must supply either tree.sha or tree.content')
  if (mode === '040000') {
    if (!store.tree(sha)) throw new HttpError(422, `tree.sha ${sha} is not a valid tree`)
    return [...flatten(store, sha)].map(([name, entry]) => [`${path}/${name}`, entry] as const)
  }
  if (mode !== '160000' && !store.blob(sha)) throw new HttpError(422, `tree.sha ${sha} is not a valid blob`)
  return [[path, { mode: mode as FileMode, sha }] as const]
}

function getBlob(call: RepositoryCall) {
  const sha = call.params.file_sha ?? ''
  const bytes = call.repo.store.blob(sha)
  if (!bytes) throw notFound()
  if (call.accept.includes('raw')) return rawReply(bytes)
  // GitHub breaks base64 into lines of 60
  const content = (
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,60}/g) ?? []
  )
    .map(line => `${line}\n`)
    .join('')
  const url = `${gitUrl(call)}/blobs/${sha}`
  return ok({ sha, node_id: nodeId('B', sha), size: bytes.length, url, content, encoding: 'base64' })
}
