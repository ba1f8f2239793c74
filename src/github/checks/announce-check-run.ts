import { message } from '../../message/message.ts'
import { cutText } from '../client/cut-text.ts'
import { github } from '../client/github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { listOurCheckRuns, type OurCheckRun } from './list-check-runs.ts'

/** A check run that is not finished. */
interface Announcement {
  readonly headSha: string
  readonly name: string
  readonly status: 'queued' | 'in_progress'
  readonly title: string
  /** Markdown. */
  readonly summary: string
}

/**
 * Says on a commit that it is being looked at; undefined where a completed run of ours says more. A run that was announced
 * before is taken up. `present`: our runs of the commit, where the caller has listed them.
 */
export async function announceCheckRun(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  run: Announcement,
  present?: readonly OurCheckRun[],
): Promise<OurCheckRun | undefined> {
  const ours = present ?? (await listOurCheckRuns(octokit, app, repository, run.headSha))
  const latest = ours.find(one => one.name === run.name && one.headSha === run.headSha)
  if (latest?.status === 'completed') return undefined
  if (latest && latest.annotations === 0) {
    await changeAnnouncement(octokit, repository, latest.id, run)
    return latest
  }
  const { owner, repo } = repository
  const { data } = await github(message`announce a check run of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.checks.create({
      owner,
      repo,
      name: run.name,
      head_sha: run.headSha,
      status: run.status,
      output: outputOf(run),
    }),
  )
  return {
    id: data.id,
    name: run.name,
    headSha: run.headSha,
    status: data.status,
    conclusion: null,
    startedAt: data.started_at,
    completedAt: null,
    externalId: '',
    detailsUrl: data.details_url,
    title: run.title,
    summary: run.summary,
    text: '',
    annotations: 0,
  }
}

/** Says how far an announced run is. */
export async function changeAnnouncement(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  id: number,
  { status, ...output }: Omit<Announcement, 'headSha' | 'name'>,
): Promise<void> {
  await github(message`announce a check run of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.checks.update({ owner, repo, check_run_id: id, status, output: outputOf(output) }),
  )
}

const outputOf = ({ title, summary }: Pick<Announcement, 'title' | 'summary'>) => ({
  title: cutText(title, 255, '…'),
  summary,
})
