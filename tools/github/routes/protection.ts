import { protect, unprotect } from '../actions/protect.ts'
import { flag, object, objects, texts } from '../http/body.ts'
import { HttpError } from '../http/http-error.ts'
import { noContent, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { fullName, type Protection, type ReviewDemand, senderOf } from '../world.ts'

type Body = Readonly<Record<string, unknown>>

/** branches/{branch}/protection. */
export function protectionRoutes(): Route[] {
  const path = '/branches/{branch}/protection'
  return [
    onRepository('GET', path, 'administration:read', 'admin', call => ok(protectionJson(call, protectionOf(call)))),
    onRepository('PUT', path, 'administration:write', 'admin', put),
    onRepository('DELETE', path, 'administration:write', 'admin', call => {
      protectionOf(call)
      unprotect(call.world, call.repo, call.params.branch ?? '', senderOf(call.actor))
      return noContent()
    }),
    onRepository('GET', `${path}/required_status_checks`, 'administration:read', 'admin', call =>
      ok(requiredChecksJson(call, protectionOf(call))),
    ),
  ]
}

function protectionOf(call: RepositoryCall): Protection {
  const branch = call.params.branch ?? ''
  if (!call.repo.refs.has(`refs/heads/${branch}`)) throw new HttpError(404, 'Branch not found')
  const protection = call.repo.protection.get(branch)
  if (!protection) throw new HttpError(404, 'Branch not protected')
  return protection
}

function put(call: RepositoryCall) {
  const { body, repo } = call
  const branch = call.params.branch ?? ''
  if (!repo.refs.has(`refs/heads/${branch}`)) throw new HttpError(404, 'Branch not found')
  const required = object(body, 'required_status_checks')
  const wish = {
    ...{
      checks: required ? checks(call, required) : [],
      strict: required ? (flag(required, 'strict') ?? false) : false,
    },
    ...{
      enforceAdmins: flag(body, 'enforce_admins') ?? false,
      allowForcePushes: flag(body, 'allow_force_pushes') ?? false,
    },
    allowDeletions: flag(body, 'allow_deletions') ?? false,
    reviews: reviews(body),
    mergeQueue: repo.protection.get(branch)?.mergeQueue ?? false,
  }
  protect(call.world, repo, branch, wish, senderOf(call.actor))
  return ok(protectionJson(call, protectionOf(call)))
}

function reviews(body: Body): ReviewDemand | undefined {
  const wanted = object(body, 'required_pull_request_reviews')
  if (!wanted) return undefined
  const count = wanted.required_approving_review_count
  return {
    ...{
      approvals: typeof count === 'number' ? count : 1,
      dismissStale: flag(wanted, 'dismiss_stale_reviews') ?? false,
    },
    codeOwners: flag(wanted, 'require_code_owner_reviews') ?? false,
    lastPush: flag(wanted, 'require_last_push_approval') ?? false,
    resolved: flag(body, 'required_conversation_resolution') ?? false,
    methods: undefined,
  }
}

/** `checks` wins over `contexts`. Without an app id the app counts that last set the check; -1 is any app (docs). */
function checks(call: RepositoryCall, required: Body): Protection['checks'] {
  const given: Body[] = objects(required, 'checks')
  const wanted = given.length > 0 ? given : (texts(required, 'contexts') ?? []).map((context): Body => ({ context }))
  return wanted.map(check => {
    const context = String(check.context)
    if (check.app_id === -1) return { context, appId: null }
    if (typeof check.app_id === 'number') return { context, appId: check.app_id }
    return { context, appId: call.repo.checkRuns.findLast(run => run.name === context)?.app.id ?? null }
  })
}

function requiredChecksJson(call: RepositoryCall, protection: Protection) {
  const url = `${protectionUrl(call)}/required_status_checks`
  return {
    ...{ url, strict: protection.strict, contexts_url: `${url}/contexts` },
    contexts: protection.checks.map(check => check.context),
    checks: protection.checks.map(check => ({ context: check.context, app_id: check.appId })),
  }
}

const protectionUrl = (call: RepositoryCall) =>
  `${call.world.url}/repos/${fullName(call.repo)}/branches/${encodeURIComponent(call.params.branch ?? '')}/protection`

function protectionJson(call: RepositoryCall, protection: Protection) {
  const url = protectionUrl(call)
  const wanted = protection.reviews
  const required_pull_request_reviews = wanted && {
    url: `${url}/required_pull_request_reviews`,
    ...{ dismiss_stale_reviews: wanted.dismissStale, require_code_owner_reviews: wanted.codeOwners },
    ...{ required_approving_review_count: wanted.approvals, require_last_push_approval: wanted.lastPush },
  }
  return {
    url,
    ...(protection.checks.length > 0 ? { required_status_checks: requiredChecksJson(call, protection) } : {}),
    ...(wanted ? { required_pull_request_reviews } : {}),
    enforce_admins: { url: `${url}/enforce_admins`, enabled: protection.enforceAdmins },
    required_signatures: { url: `${url}/required_signatures`, enabled: false },
    allow_force_pushes: { enabled: protection.allowForcePushes },
    ...{ required_linear_history: { enabled: false }, allow_deletions: { enabled: protection.allowDeletions } },
    ...{
      block_creations: { enabled: false },
      required_conversation_resolution: { enabled: wanted?.resolved ?? false },
    },
    ...{ lock_branch: { enabled: false }, allow_fork_syncing: { enabled: false } },
  }
}
