import { applyFixes as applied, type Fix } from '../../src/fix/fixes-of.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from '../evaluate/commit-outcome.ts'
import { fixesAtHead, readFixes, textsOf } from '../evaluate/read-fixes.ts'
import { commitRecorded } from '../trail/recorded-writes.ts'
import type { PublishTarget } from './publish-verdict.ts'

/** What became of a wish to apply fixes. */
type Applied = 'committed' | 'nothing' | 'moved' | 'fork'

/**
 * Commits all certain fixes of a verdict to the branch of its pull request, as one commit on the evaluated head.
 * `fork`: the branch is in another owner's repository, which is never written to.
 */
export async function applyFixes(
  context: WorkerContext,
  { octokit, app }: Pick<PublishTarget, 'octokit' | 'app'>,
  subject: OpenedRepository,
  pull: PullRequest,
  evaluated: CommitOutcome,
  login: string,
): Promise<Applied> {
  if (pull.head.fork) return 'fork'
  const fixes = readFixes(evaluated)
  if (fixes.length === 0 || !evaluated.tree) return 'nothing'
  const { repository, installation } = subject
  const head = await installation.content(repository, pull.head.sha)
  const here = fixesAtHead(fixes, evaluated.tree, head)
  const texts = textsOf(head)
  const modes = new Map(head.entries.map(({ path, mode }) => [path, mode]))
  const files = [...Map.groupBy(here, fix => fix.path)].map(([path, ofFile]) => ({
    path,
    content: applied(texts(path) ?? '', ofFile),
    mode: modes.get(path) === '100755' ? ('100755' as const) : ('100644' as const),
  }))
  if (files.length === 0) return 'nothing'
  const name = { owner: repository.owner, repo: repository.name }
  const message = messageOf(here, login)
  const url = evaluated.context.fleet?.repository
  const act = { context, app, fleet: url === undefined ? undefined : { installation: installation.id, url } }
  const commit = { branch: pull.head.ref, head: pull.head.sha, files, message }
  const sha = await commitRecorded(act, octokit, name, pull.number, commit)
  return sha === undefined ? 'moved' : 'committed'
}

/** Names rules only: a path may hold what GitHub takes for the wish to close an issue. */
function messageOf(fixes: readonly Fix[], login: string): string {
  const rules = [...new Set(fixes.flatMap(fix => fix.findings.map(finding => finding.rule)))].sort()
  const subject = fixes.length === 1 ? `Fix ${rules[0]}` : `Fix ${fixes.length} findings of Bailiwick`
  return [subject, '', ...rules.map(rule => `- ${rule}`), '', `Requested by ${login}.`].join('\n')
}
