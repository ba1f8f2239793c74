import { BailiwickError } from '../src/errors.ts'
import type { IssueComment } from '../src/github/issue-comment.ts'
import type { Octokit } from '../src/github/octokit.ts'
import { openPullRequest } from '../src/github/open-pull-request.ts'
import { readRole } from '../src/github/permission.ts'
import { normaliseUrl } from '../src/kube/url.ts'
import { ONBOARD_USAGE, parseOnboardCommand } from '../src/onboard/parse-command.ts'
import type { OnboardPlan } from '../src/onboard/plan.ts'
import { pullRequestText } from '../src/onboard/pull-request-text.ts'
import type { OnboardRequest } from '../src/onboard/request.ts'
import { findRepository } from './combination/find-repository.ts'
import type { Installation } from './combination/installation.ts'
import { mayMaintain } from './commands/may.ts'
import type { Verb } from './commands/verb.ts'
import type { Place } from './verdict/say-verdict.ts'
import type { WorkerContext } from './worker-context.ts'

/**
 * Answers `/bailiwick onboard ...` with a pull request; merging it is the approval. A request that cannot be met gets a
 * reply that says why.
 */
export const onboardVerb: Verb = {
  name: 'onboard',
  usage: ONBOARD_USAGE,
  summary: 'open a pull request that adds a tenant to this fleet',
  where: 'anywhere',
  slow: false,
  may: mayMaintain,
  refusal: 'This tenant cannot be onboarded',
  run: async ({ context, place, installation, comment }) => {
    const request = parseOnboardCommand(comment.body)
    if (!request) throw new TypeError('a comment that is no command came here')
    await refuseForeignRepository(place.octokit, installation, comment.author.login, request)
    await open(context, place, installation, comment, request)
    return { reaction: 'rocket' }
  },
}

async function open(
  context: WorkerContext,
  place: Place,
  installation: Installation,
  comment: IssueComment,
  asked: OnboardRequest,
): Promise<void> {
  const fleet = await findRepository(installation, { owner: place.owner, repo: place.repo })
  const branch = fleet?.defaultBranch ?? ''
  const commit = fleet && (await installation.head(fleet, { branch }))
  if (!fleet || !commit)
    throw new BailiwickError('onboard-layout', 'this repository is empty: there is no fleet to add to')
  const directories = await tenantDirectories(installation, asked)
  const request = directories ? { ...asked, tenantDirectories: directories } : asked
  const tree = await installation.content(fleet, commit)
  const plan = await planned(context, { request, tree, url: fleet.url, branch })
  if (plan.files.length === 0) {
    throw new BailiwickError('onboard-input', `${asked.tenant} is in this fleet already, exactly as you ask`)
  }
  const text = pullRequestText(request, plan)
  await openPullRequest(place.octokit, place.app, place, {
    base: branch,
    branch: `bailiwick/onboard-${asked.tenant}`,
    files: plan.files.map(({ path, content }) => ({ path, content })),
    title: text.title,
    body: `${text.body}\n\nAsked for in #${comment.issue.number}.`,
    message: text.title,
  })
}

async function planned(
  { evaluator }: WorkerContext,
  question: Omit<Parameters<WorkerContext['evaluator']['evaluate']>[0] & { type: 'plan' }, 'type'>,
): Promise<OnboardPlan> {
  const answer = await evaluator.evaluate({ type: 'plan', ...question })
  if (answer.type === 'planned') return answer.plan
  if (answer.type === 'refused') throw new BailiwickError(answer.code, answer.message, { fix: answer.fix })
  throw new TypeError(`the rendering thread answered ${answer.type} to a question for a plan`)
}

/** Nobody gets a tenant out of a repository that is not theirs; one that the App cannot read stays unseen, and is never applied. */
async function refuseForeignRepository(
  octokit: Octokit,
  installation: Installation,
  login: string,
  { url }: OnboardRequest,
): Promise<void> {
  const repository = await findRepository(installation, { url: normaliseUrl(url) })
  if (!repository) return
  const role = await readRole(octokit, { owner: repository.owner, repo: repository.name }, login)
  if (role === 'admin' || role === 'maintain') return
  throw new BailiwickError('onboard-input', `${login} may not decide about ${url}: the role there is ${role}`, {
    fix: 'Let somebody ask who maintains or administers that repository too.',
  })
}

/** What lies at the root of the tenant's repository; undefined where it cannot be read. */
async function tenantDirectories(
  installation: Installation,
  { url, branch }: OnboardRequest,
): Promise<string[] | undefined> {
  const repository = await findRepository(installation, { url: normaliseUrl(url) })
  const commit = repository && (await installation.head(repository, { branch }))
  if (!repository || !commit) return undefined
  const { entries } = await installation.content(repository, commit)
  return [...new Set(entries.flatMap(({ path }) => (path.includes('/') ? [path.slice(0, path.indexOf('/'))] : [])))]
}
