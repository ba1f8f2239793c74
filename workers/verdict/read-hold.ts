import { readCommandLine } from '../../src/command/command-line.ts'
import type { Circumstances } from '../../src/gate/circumstances.ts'
import { labelledBy } from '../../src/github/labels.ts'
import { listCommentsSince } from '../../src/github/list-comments.ts'
import type { RepositoryName } from '../../src/github/octokit.ts'
import type { PullRequest } from '../../src/github/pull-request.ts'
import type { Subject } from './judge-pull-request.ts'

/** What holds a pull request: on GitHub, so that it outlives us and everybody sees it. */
export const HOLD_LABEL = 'bailiwick/hold'

/** A command may wait that long in the queue and still be found as what put the label on. */
const WAITS_MS = 15 * 60 * 1000

/** Who holds a pull request, if anybody does. The pull request itself says whether; more is asked only where it is held. */
export async function readHold(subject: Subject, pull: PullRequest): Promise<Circumstances['hold']> {
  // names of labels have no case on GitHub
  if (!pull.labels.some(label => label.toLowerCase() === HOLD_LABEL)) return undefined
  const name = { owner: subject.repository.owner, repo: subject.repository.name }
  const labelled = await labelledBy(subject.octokit, name, pull.number, HOLD_LABEL)
  if (!labelled) return { by: `the label ${HOLD_LABEL}` }
  if (!labelled.login.endsWith('[bot]')) return { by: labelled.login }
  return { by: (await commander(subject, name, pull.number, labelled.at)) ?? labelled.login }
}

/** Who had our App put it on. Only to say so: whether they could was asked then. */
async function commander({ octokit }: Subject, name: RepositoryName, pull: number, at: string) {
  const since = new Date(Date.parse(at) - WAITS_MS).toISOString()
  const comments = await listCommentsSince(octokit, name, pull, since)
  const asked = comments.findLast(
    ({ author, body, createdAt }) =>
      author.type === 'User' && createdAt <= at && readCommandLine(body)?.verb === 'hold',
  )
  return asked?.author.login
}
