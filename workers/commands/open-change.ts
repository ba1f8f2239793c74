import type { FleetChange } from '../../src/adopt/fleet-change.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { OpenedPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import { fixOf, typedMessage } from '../../src/message/said.ts'
import { codeSpan } from '../../src/onboard/code-span.ts'
import type { ChangeRequest } from '../threads/protocol.ts'
import { type ActOf, openRecordedPull } from '../trail/recorded-writes.ts'
import type { CommandContext } from './command-context.ts'

/**
 * Computes a change of the present fleet and opens its pull request; undefined where there is nothing to change. Only the fleet's own
 * repository is read: what needs another one is refused with the reason.
 */
export async function openChange(
  { context, installation, repository, place, comment }: CommandContext,
  ask: ChangeRequest['ask'],
): Promise<OpenedPullRequest | undefined> {
  const branch = repository.defaultBranch
  const commit = await installation.head(repository, { branch })
  if (!commit) throw new BailiwickError('adopt-input', 'this repository is empty, so there is no fleet')
  const tree = await installation.content(repository, commit)
  const answer = await context.evaluator.evaluate({ type: 'change', ask, tree, url: repository.url, branch })
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type !== 'changed') {
    throw new TypeError(`the rendering thread answered ${answer.type} to a question for a change`)
  }
  const { change } = answer
  const act = { context, app: place.app, fleet: { installation: installation.id, url: repository.url } }
  const asked = { branch, commit, by: comment.author.login, issue: comment.issue.number }
  return change && openChangeOf(act, place, change, asked)
}

async function openChangeOf(
  act: ActOf,
  place: CommandContext['place'],
  { files, title, body, slug }: FleetChange,
  { branch, commit, by, issue }: { branch: string; commit: string; by: string; issue: number },
): Promise<OpenedPullRequest> {
  return openRecordedPull(
    act,
    place.octokit,
    { owner: place.owner, repo: place.repo },
    {
      base: branch,
      // each state of the fleet has its own: a branch that was merged once may still be there
      branch: `bailiwick/${slug}-${commit.slice(0, 10)}`,
      files: files.map(({ path, content }) => ({ path, content })),
      title,
      body: `${body}\n\nRequested by ${codeSpan(by)} in #${issue}.`,
      message: title,
    },
  )
}
