import { editPull } from '../actions/edit-pull.ts'
import { setIssueState } from '../actions/issue.ts'
import { mergePull } from '../actions/merge-pull.ts'
import { openPull } from '../actions/pull.ts'
import { log } from '../git/graph.ts'
import { flag, requiredText, text } from '../http/body.ts'
import { HttpError, invalid, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { commitJson, fileJson } from '../json/commit.ts'
import { changesOf, pullJson, pullSimpleJson } from '../json/pull.ts'
import { appOf, fullName, type Pull, type Repository, senderOf } from '../world.ts'
import { mayEdit } from './issues.ts'

/** More files of a pull request are not listed (docs, "List pull requests files"). */
const MOST_FILES = 3000

/** pulls: list, open, read, change, merge, files, commits. */
export function pullRoutes(): Route[] {
  return [
    onRepository('GET', '/pulls', 'pull_requests:read', 'read', listPulls),
    onRepository('POST', '/pulls', 'pull_requests:write', 'read', create),
    onRepository('GET', '/pulls/{pull_number}', 'pull_requests:read', 'read', call =>
      ok(pullJson(call.world, call.repo, pullOf(call))),
    ),
    onRepository('PATCH', '/pulls/{pull_number}', 'pull_requests:write', 'read', update),
    onRepository('PUT', '/pulls/{pull_number}/merge', 'contents:write', 'write', merge),
    onRepository('GET', '/pulls/{pull_number}/merge', 'contents:read', 'read', call => {
      if (!pullOf(call).merged) throw notFound()
      return { status: 204 }
    }),
    onRepository('GET', '/pulls/{pull_number}/files', 'pull_requests:read', 'read', call => {
      const pull = pullOf(call)
      const changes = changesOf(call.repo, pull).slice(0, MOST_FILES)
      return list(call, changes, change => fileJson(call.world, call.repo, pull.head.sha, change))
    }),
    onRepository('GET', '/pulls/{pull_number}/commits', 'pull_requests:read', 'read', call => {
      const pull = pullOf(call)
      const commits = log(call.repo.store, pull.head.sha, pull.base.sha).reverse().slice(0, 250)
      return list(call, commits, commit => commitJson(call.world, call.repo, commit))
    }),
  ]
}

/** The pull request that a path names. Throws 404. */
export function pullOf(call: RepositoryCall): Pull {
  const pull = call.repo.pulls.get(Number(call.params.pull_number))
  if (!pull) throw notFound()
  return pull
}

function listPulls(call: RepositoryCall) {
  const state = call.query.get('state') ?? 'open'
  const base = call.query.get('base')
  const head = call.query.get('head')
  const sort = call.query.get('sort') ?? 'created'
  if (sort !== 'created' && sort !== 'updated') throw new HttpError(501, `This server does not sort by ${sort}`)
  // newest first when sorted by creation, oldest first otherwise (docs, "List pull requests")
  const ascending = (call.query.get('direction') ?? (sort === 'created' ? 'desc' : 'asc')) === 'asc'
  const found = [...call.repo.pulls.values()].filter(pull => {
    const label = `${pull.head.repository.owner.login}:${pull.head.ref}`
    const headFits = !head || label === head
    return (state === 'all' || pull.issue.state === state) && (!base || pull.base.ref === base) && headFits
  })
  if (sort === 'updated') found.sort((a, b) => a.issue.updatedAt.localeCompare(b.issue.updatedAt))
  return list(call, ascending ? found : found.reverse(), pull => pullSimpleJson(call.world, call.repo, pull))
}

function create(call: RepositoryCall) {
  const head = headOf(call, requiredText(call.body, 'head'))
  const wanted = {
    ...{ title: requiredText(call.body, 'title'), body: text(call.body, 'body') ?? null, head },
    ...{ base: requiredText(call.body, 'base'), draft: flag(call.body, 'draft') ?? false },
  }
  const pull = openPull(call.world, call.repo, senderOf(call.actor), appOf(call.actor), wanted)
  return created(pullJson(call.world, call.repo, pull))
}

function headOf(call: RepositoryCall, name: string): { repository: Repository; ref: string } {
  const [owner, ref] = name.includes(':') ? name.split(':') : [call.repo.owner.login, name]
  if (owner === call.repo.owner.login) return { repository: call.repo, ref: ref ?? '' }
  const fork = [...call.world.repositories.values()].find(
    each => each.parent === call.repo && each.owner.login === owner,
  )
  if (!fork) throw invalid('PullRequest', 'head')
  return { repository: fork, ref: ref ?? '' }
}

function update(call: RepositoryCall) {
  const { world, repo, body } = call
  const pull = pullOf(call)
  const by = senderOf(call.actor)
  mayEdit(call, pull.issue, 'write')
  const base = text(body, 'base')
  const description = body.body === null ? null : text(body, 'body')
  editPull(world, repo, pull, { title: text(body, 'title'), body: description, base }, by)
  const state = text(body, 'state')
  if (state === 'open' || state === 'closed') setIssueState(world, repo, pull.issue, state, by)
  return ok(pullJson(world, repo, pull))
}

function merge(call: RepositoryCall) {
  const { body, repo, world } = call
  const pull = pullOf(call)
  const method = text(body, 'merge_method') ?? 'merge'
  if (method !== 'merge' && method !== 'squash' && method !== 'rebase')
    throw new HttpError(405, `${fullName(repo)}: ${method}`)
  const sha = mergePull(world, repo, pull, call.actor, {
    ...{ method, sha: text(body, 'sha'), title: text(body, 'commit_title'), message: text(body, 'commit_message') },
  })
  return ok({ sha, merged: true, message: 'Pull Request successfully merged' })
}
