import type { Asking } from './verb.ts'

/** Has a pull request evaluated as it stands when its turn comes; the one of the comment where none is named. */
export async function judgeAgain({ context, data }: Asking, pull = data.issue): Promise<void> {
  const { installation, owner, repo } = data
  await context.queue.add('validate-pull-request', { installation, owner, repo, pull })
}
