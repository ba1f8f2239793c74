import { BailiwickError } from '../../src/errors.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import { fixOf, typedMessage } from '../../src/message/said.ts'
import type { OnboardPlan } from '../../src/onboard/plan.ts'
import type { OnboardRequest } from '../../src/onboard/request.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { findRepository } from '../fleets/find-repository.ts'
import { mayReadSource } from '../fleets/source-reader.ts'

/** The planned changes of an onboarding. */
export interface PreparedOnboarding {
  readonly request: OnboardRequest
  readonly plan: OnboardPlan
  /** The branch of the fleet that it goes to. */
  readonly branch: string
}

/** Plans an onboarding on the present fleet, requested by `by`. Throws `onboard-input` and `onboard-layout`. */
export async function prepareOnboarding(
  { evaluator }: WorkerContext,
  installation: Installation,
  fleet: ReadableRepository,
  asked: OnboardRequest,
  by: string,
): Promise<PreparedOnboarding> {
  const branch = fleet.defaultBranch
  const commit = await installation.head(fleet, { branch })
  if (!commit) throw new BailiwickError('onboard-layout', 'this repository is empty, so there is no fleet')
  const directories = await tenantDirectories(installation, fleet, asked, by)
  const request = directories ? { ...asked, tenantDirectories: directories } : asked
  const tree = await installation.content(fleet, commit)
  const answer = await evaluator.evaluate({ type: 'plan', request, tree, url: fleet.url, branch })
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type !== 'planned') {
    throw new TypeError(`the rendering thread answered ${answer.type} to a question for a plan`)
  }
  const { plan } = answer
  if (plan.files.length === 0) {
    throw new BailiwickError(
      'onboard-input',
      `tenant ${asked.tenant} already exists in this fleet, exactly as requested`,
    )
  }
  return { request: plan.request, plan, branch }
}

/** What lies at the root of the tenant's repository; undefined where it cannot be read, or not by the person who asks. */
async function tenantDirectories(
  installation: Installation,
  fleet: ReadableRepository,
  { url, branch, ref }: OnboardRequest,
  by: string,
): Promise<string[] | undefined> {
  // what a tag or a commit holds is not what the branch holds now
  if (ref) return undefined
  // asked before anything shows whether there is such a repository
  if (!(await mayReadSource(installation, fleet.url, url, by))) return undefined
  const repository = await findRepository(installation, { url: normaliseUrl(url) })
  const commit = repository && (await installation.head(repository, { branch }))
  if (!repository || !commit) return undefined
  const { entries } = await installation.content(repository, commit)
  return [...new Set(entries.flatMap(({ path }) => (path.includes('/') ? [path.slice(0, path.indexOf('/'))] : [])))]
}
