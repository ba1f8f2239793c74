import { commitNamed, resolveCommit } from '../actions/resolve.ts'
import { diffTrees } from '../git/diff.ts'
import { log, mergeBase } from '../git/graph.ts'
import { entryAt } from '../git/trees.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { commitJson, emailOf, fileJson } from '../json/commit.ts'
import { pullSimpleJson } from '../json/pull.ts'
import { fullName } from '../world.ts'

/** More are not shown by one comparison (docs, "Compare two commits"). */
const MOST_FILES = 300
const MOST_COMMITS = 250

/** commits, branches, compare. */
export function commitRoutes(): Route[] {
  return [
    onRepository('GET', '/commits', 'contents:read', 'read', listCommits),
    onRepository('GET', '/commits/{ref}', 'contents:read', 'read', getCommit),
    onRepository('GET', '/commits/{commit_sha}/pulls', 'pull_requests:read|contents:read', 'read', call => {
      const sha = commitNamed(call.repo, call.params.commit_sha ?? '').sha
      const found = [...call.repo.pulls.values()].filter(
        pull => pull.head.sha === sha || (pull.merged && pull.mergeCommit === sha),
      )
      return list(call, found, pull => pullSimpleJson(call.world, call.repo, pull))
    }),
    onRepository('GET', '/branches', 'contents:read', 'read', call => {
      const heads = [...call.repo.refs].filter(([ref]) => ref.startsWith('refs/heads/')).sort()
      return list(call, heads, ([ref, sha]) => shortBranch(call, ref.slice('refs/heads/'.length), sha))
    }),
    onRepository('GET', '/branches/{branch}', 'contents:read', 'read', getBranch),
    onRepository('GET', '/compare/{basehead}', 'contents:read', 'read', compare),
  ]
}

function listCommits(call: RepositoryCall) {
  const { repo, query } = call
  const tip = resolveCommit(repo, query.get('sha') ?? repo.defaultBranch)
  if (tip === undefined && repo.refs.size === 0) throw new HttpError(409, 'Git Repository is empty.')
  if (tip === undefined) throw notFound()
  const path = query.get('path')
  const author = query.get('author')
  const idAt = (sha: string | undefined) => sha && path && entryAt(repo.store, repo.store.commit(sha)!.tree, path)?.sha
  const commits = log(repo.store, tip).filter(commit => {
    if (path && idAt(commit.sha) === idAt(commit.parents[0])) return false
    const user = author && call.world.users.get(author.toLowerCase())
    return !author || commit.author.email === (user ? emailOf(user) : author)
  })
  return list(call, commits, commit => commitJson(call.world, repo, commit))
}

function getCommit(call: RepositoryCall) {
  const { repo, world } = call
  const name = call.params.ref ?? ''
  const sha = resolveCommit(repo, name)
  if (sha === undefined) throw new HttpError(422, `No commit found for SHA: ${name}`)
  if (call.accept.includes('sha'))
    return { status: 200, body: sha, headers: { 'content-type': 'application/vnd.github.sha; charset=utf-8' } }
  const commit = repo.store.commit(sha)!
  const parent = commit.parents[0]
  const changes = diffTrees(repo.store, parent && repo.store.commit(parent)!.tree, commit.tree)
  return ok(commitJson(world, repo, commit, changes.slice(0, MOST_FILES)))
}

function shortBranch(call: RepositoryCall, name: string, sha: string) {
  const url = `${call.world.url}/repos/${fullName(call.repo)}`
  const isProtected = call.repo.protection.has(name)
  const protection_url = `${url}/branches/${encodeURIComponent(name)}/protection`
  return {
    name,
    commit: { sha, url: `${url}/commits/${sha}` },
    protected: isProtected,
    ...protectionOf(call, name),
    protection_url,
  }
}

function protectionOf(call: RepositoryCall, name: string) {
  const checks = call.repo.protection.get(name)?.checks ?? []
  const enabled = call.repo.protection.has(name)
  return {
    protection: {
      enabled,
      required_status_checks: {
        enforcement_level: enabled ? 'non_admins' : 'off',
        contexts: checks.map(check => check.context),
        checks: checks.map(check => ({ context: check.context, app_id: check.appId })),
      },
    },
  }
}

function getBranch(call: RepositoryCall) {
  const name = call.params.branch ?? ''
  const sha = call.repo.refs.get(`refs/heads/${name}`)
  if (sha === undefined) throw new HttpError(404, 'Branch not found')
  const short = shortBranch(call, name, sha)
  const self = `${call.world.url}/repos/${fullName(call.repo)}/branches/${encodeURIComponent(name)}`
  const html = `https://github.com/${fullName(call.repo)}/tree/${name}`
  return ok({
    ...short,
    commit: commitJson(call.world, call.repo, call.repo.store.commit(sha)!),
    _links: { self, html },
  })
}

function compare(call: RepositoryCall) {
  const { repo, world } = call
  const [left = '', right = ''] = (call.params.basehead ?? '').split('...')
  const [base, head] = [endpoint(call, left), endpoint(call, right)]
  const common = mergeBase(repo.store, base.sha, head.sha)
  if (common === undefined) throw new HttpError(404, `No common ancestor between ${left} and ${right}.`)
  const ahead = log(repo.store, head.sha, base.sha).reverse()
  const behind = log(repo.store, base.sha, head.sha).length
  const changes = diffTrees(repo.store, repo.store.commit(common)!.tree, head.tree)
  const status = ahead.length === 0 ? (behind === 0 ? 'identical' : 'behind') : behind === 0 ? 'ahead' : 'diverged'
  const page = `https://github.com/${fullName(repo)}/compare/${left}...${right}`
  return list(
    call,
    ahead.slice(0, MOST_COMMITS),
    commit => commitJson(world, repo, commit),
    commits => ({
      url: `${world.url}${call.path}`,
      ...{ html_url: page, permalink_url: page, diff_url: `${page}.diff`, patch_url: `${page}.patch` },
      base_commit: commitJson(world, repo, base),
      merge_base_commit: commitJson(world, repo, repo.store.commit(common)!),
      ...{ status, ahead_by: ahead.length, behind_by: behind, total_commits: ahead.length, commits },
      files: changes.slice(0, MOST_FILES).map(change => fileJson(world, repo, head.sha, change)),
    }),
  )
}

/** `branch`, or `owner:branch` of a fork. */
function endpoint(call: RepositoryCall, name: string) {
  const [owner, branch] = name.includes(':') ? name.split(':') : [undefined, name]
  if (!owner || owner === call.repo.owner.login) return commitNamed(call.repo, branch ?? '')
  const fork = [...call.world.repositories.values()].find(
    each => each.parent === call.repo && each.owner.login === owner,
  )
  if (!fork) throw notFound()
  return commitNamed(fork, branch ?? '')
}
