import { BailiwickError } from '../../errors.ts'
import { message, part } from '../../message/message.ts'
import type { ProtectionLayer } from '../../protection/protected-branch.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** The branch protection of one branch; `hidden`: GitHub shows the App not all of it. */
interface BranchProtection {
  readonly layer?: ProtectionLayer
  readonly hidden: boolean
}

/**
 * Reads the classic protection of a branch, whichever pattern it comes from. Without the permission administration: read
 * (or on a plan without protection) what the branch itself tells is taken: required checks, not the rest.
 */
export async function readBranchProtection(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
): Promise<BranchProtection> {
  const what = message`read the protection of ${part('branch', branch, JSON.stringify(branch))} of ${repositoryPart({ owner, repo })}`
  try {
    const found = await unlessMissing(what, () => octokit.rest.repos.getBranchProtection({ owner, repo, branch }))
    return found ? { layer: layerOf(found.data), hidden: false } : { hidden: false }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'not-permitted') throw error
  }
  const found = await unlessMissing(what, () => octokit.rest.repos.getBranch({ owner, repo, branch }))
  const seen = found?.data.protection
  if (!found?.data.protected || !seen?.required_status_checks) return { hidden: found?.data.protected ?? false }
  return {
    hidden: true,
    layer: {
      ...{ kind: 'protection', name: '', of: 'Repository', checks: checksOf(seen.required_status_checks) },
      ...{ strict: undefined, mergeQueue: false, pullRequest: undefined },
      ...{ forbidsForcePush: undefined, forbidsDeletion: undefined, bypass: undefined },
    },
  }
}

type Answer = Awaited<ReturnType<Octokit['rest']['repos']['getBranchProtection']>>['data']

function layerOf(answer: Answer): ProtectionLayer {
  return {
    ...{ kind: 'protection', name: '', of: 'Repository' },
    checks: answer.required_status_checks ? checksOf(answer.required_status_checks) : [],
    strict: answer.required_status_checks?.strict ?? false,
    mergeQueue: false,
    pullRequest: answer.required_pull_request_reviews !== undefined,
    forbidsForcePush: answer.allow_force_pushes?.enabled !== true,
    forbidsDeletion: answer.allow_deletions?.enabled !== true,
    bypass: answer.enforce_admins?.enabled === true ? [] : ['every administrator of the repository'],
  }
}

interface RequiredChecks {
  readonly contexts: readonly string[]
  readonly checks?: readonly { readonly context: string; readonly app_id: number | null }[]
}

/** `contexts` names the same checks without saying who may answer. -1 is any App, as null is (docs of the endpoint). */
function checksOf({ contexts, checks = [] }: RequiredChecks): ProtectionLayer['checks'] {
  const named = checks.map(({ context, app_id: app }) => ({ context, app: app === -1 ? null : app }))
  const more = contexts.filter(context => !named.some(one => one.context === context))
  return [...named, ...more.map(context => ({ context, app: null }))]
}
