import { type PullRequest, readTestMerge } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { evaluateChange, type FleetAnswer } from '../fleets/evaluate-change.ts'
import { peopleOfPull } from './people-of.ts'

/**
 * Returns the evaluation of each fleet that an open pull request affects, as if it were merged now. Throws as
 * readTestMerge does.
 */
export async function answersOf(
  context: WorkerContext,
  subject: OpenedRepository,
  pull: PullRequest,
): Promise<readonly FleetAnswer[]> {
  const { installation, repository, octokit } = subject
  const merge = await readTestMerge(octokit, { owner: repository.owner, repo: repository.name }, pull)
  const pin = { url: repository.url, branch: pull.base.ref }
  return evaluateChange(context, installation, {
    head: { ...pin, commit: merge.sha, tree: merge.tree },
    base: { ...pin, commit: merge.base },
    people: peopleOfPull(subject, pull),
  })
}
