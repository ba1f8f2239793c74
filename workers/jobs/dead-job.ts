import { BailiwickError } from '../../src/errors.ts'
import type { JobName, Jobs, ReportDeadCommit } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'

type ReportDead = (context: WorkerContext, data: never, why: string, at: number) => Promise<void>

/** Kinds of jobs that owe someone a check run: it must not stay open, or stay green, because the job is dead. */
const OWES: { readonly [N in JobName]?: ReportDead } = {
  'validate-pull-request': ({ queue }, data: Jobs['validate-pull-request'], why, at) => {
    const { installation, owner, repo, pull } = data
    return queue.add('report-dead-pull-request', { installation, owner, repo, pull, why, at })
  },
  'validate-push': (context, { installation, owner, repo, sha }: Jobs['validate-push'], why, at) =>
    reportOnCommit(context, { installation, owner, repo, sha }, why, at),
  'validate-merge-group': (context, data: Jobs['validate-merge-group'], why, at) =>
    reportOnCommit(context, { ...data, base: data.branch }, why, at),
}

function reportOnCommit(
  { queue }: WorkerContext,
  { installation, owner, repo, sha, base }: Omit<ReportDeadCommit, 'why' | 'at'>,
  why: string,
  at: number,
): Promise<void> {
  return queue.add('report-dead-commit', {
    installation,
    owner,
    repo,
    sha,
    why,
    at,
    ...(base === undefined ? {} : { base }),
  })
}

/**
 * Adds a job that reports a failed job. It is a separate job because what ended this one (an outage, a bug, a limit)
 * may prevent a report now.
 */
export async function buryJob<N extends JobName>(
  context: WorkerContext,
  name: N,
  data: Jobs[N],
  error: unknown,
): Promise<void> {
  context.log.error({ job: name, data, err: error }, 'job failed permanently')
  const why = error instanceof BailiwickError ? error.code : 'internal'
  await OWES[name]?.(context, data as never, why, Date.now())
}
