import type { CommandContext } from './command-context.ts'

/** Enqueues an evaluation of a pull request; by default, the one with the comment. */
export async function evaluateAgain({ context, data }: CommandContext, pull = data.issue): Promise<void> {
  const { installation, owner, repo } = data
  await context.queue.add('validate-pull-request', { installation, owner, repo, pull })
}
