import { commitFiles } from '../actions/commit-files.ts'
import { mayPush } from '../actions/protection.ts'
import { commitNamed } from '../actions/resolve.ts'
import { entryAt } from '../git/trees.ts'
import { requiredText, text } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { created, ok, onRepository, type RepositoryCall, type Route, rawReply } from '../http/route.ts'
import { gitCommitJson } from '../json/commit.ts'
import { fullName, senderOf } from '../world.ts'

const MEGABYTE = 1024 * 1024

/** contents: read a file or directory, write or delete one file on a branch. */
export function contentRoutes(): Route[] {
  return [
    onRepository('GET', '/contents/{path}', 'contents:read', 'read', call => read(call, call.params.path ?? '')),
    onRepository('PUT', '/contents/{path}', 'contents:write', 'write', put),
    onRepository('DELETE', '/contents/{path}', 'contents:write', 'write', remove),
  ]
}

function read(call: RepositoryCall, path: string) {
  const { repo } = call
  const ref = call.query.get('ref') ?? repo.defaultBranch
  const commit = commitNamed(repo, ref)
  const trimmed = path.replace(/\/+$/, '')
  const entry = entryAt(repo.store, commit.tree, trimmed)
  if (!entry) throw notFound()
  if (entry.mode === '40000') {
    const items = repo.store.tree(entry.sha)!
    return ok(items.map(({ name, ...item }) => contentJson(call, trimmed ? `${trimmed}/${name}` : name, item, ref)))
  }
  if (call.accept.includes('raw') && entry.mode !== '160000') return rawReply(repo.store.blob(entry.sha)!)
  return ok({ ...contentJson(call, trimmed, entry, ref), ...inline(call, entry) })
}

/** From 1 MB on the content is left out; it must be asked for raw (docs, "Get repository content"). */
function inline(call: RepositoryCall, entry: { mode: string; sha: string }) {
  const bytes = call.repo.store.blob(entry.sha)
  if (!bytes) return { submodule_git_url: null }
  if (entry.mode === '120000') return { target: Buffer.from(bytes).toString() }
  if (bytes.length > MEGABYTE) return { content: '', encoding: 'none' }
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,60}/g) ?? []
  return { content: lines.map(line => `${line}\n`).join(''), encoding: 'base64' }
}

const TYPES: Record<string, string> = { '40000': 'dir', '120000': 'symlink', '160000': 'submodule' }

function contentJson(call: RepositoryCall, path: string, entry: { mode: string; sha: string }, ref: string) {
  const name = fullName(call.repo)
  const at = encodeURI(path)
  const directory = entry.mode === '40000'
  const url = `${call.world.url}/repos/${name}/contents/${at}?ref=${encodeURIComponent(ref)}`
  const git = `${call.world.url}/repos/${name}/git/${directory ? 'trees' : 'blobs'}/${entry.sha}`
  const html = `https://github.com/${name}/${directory ? 'tree' : 'blob'}/${ref}/${at}`
  const raw = directory ? null : `https://raw.githubusercontent.com/${name}/${ref}/${at}`
  return {
    ...{ name: path.split('/').at(-1) ?? '', path, sha: entry.sha, type: TYPES[entry.mode] ?? 'file' },
    size: call.repo.store.blob(entry.sha)?.length ?? 0,
    ...{ url, html_url: html, git_url: git, download_url: raw, _links: { self: url, git, html } },
  }
}

function put(call: RepositoryCall) {
  const path = call.params.path ?? ''
  const content = Buffer.from(requiredText(call.body, 'content'), 'base64')
  const { commit, before } = change(call, path, { files: { [path]: content } })
  const entry = entryAt(call.repo.store, commit.tree, path)!
  const body = {
    content: contentJson(call, path, entry, commit.sha),
    commit: gitCommitJson(call.world, call.repo, commit),
  }
  return before ? ok(body) : created(body)
}

function remove(call: RepositoryCall) {
  const path = call.params.path ?? ''
  const { commit } = change(call, path, { remove: [path] })
  return ok({ content: null, commit: gitCommitJson(call.world, call.repo, commit) })
}

function change(call: RepositoryCall, path: string, what: { files?: Record<string, Uint8Array>; remove?: string[] }) {
  const { repo, world } = call
  const branch = text(call.body, 'branch') ?? repo.defaultBranch
  const tip = repo.refs.get(`refs/heads/${branch}`)
  if (tip === undefined) throw new HttpError(404, `Branch ${branch} not found`)
  const before = entryAt(repo.store, repo.store.commit(tip)!.tree, path)
  const sha = text(call.body, 'sha')
  if (before && sha === undefined) throw new HttpError(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
  if (sha !== undefined && sha !== before?.sha) throw new HttpError(409, `${path} does not match ${sha}`)
  const by = senderOf(call.actor)
  const message = requiredText(call.body, 'message')
  const commit = commitFiles(world, repo, { branch, by, message, ...what }, made => {
    try {
      mayPush(world, repo, branch, made, call.actor)
    } catch (error) {
      throw error instanceof HttpError ? new HttpError(409, error.message) : error
    }
  })
  // GitHub signs what an App commits in its own name
  if (call.actor.kind === 'installation' && !call.body.author && !call.body.committer) repo.store.signed.add(commit.sha)
  return { commit, before }
}
