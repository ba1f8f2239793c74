import { listPullRequestsOf } from '../src/github/pull-request.ts'
import type { JudgeCommit } from '../src/queue/queue.ts'
import type { WorkerContext } from './worker-context.ts'

/** Asks for a verdict on every open pull request whose head is a commit. Asking twice is asking once. */
export async function judgeCommit({ app, queue }: WorkerContext, data: JudgeCommit): Promise<void> {
  const { installation, owner, repo, sha } = data
  const octokit = await app.reader(installation)
  for (const { number: pull } of await listPullRequestsOf(octokit, { owner, repo }, sha)) {
    await queue.add('validate-pull-request', { installation, owner, repo, pull })
  }
}
