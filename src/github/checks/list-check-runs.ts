import { message } from '../../message/message.ts'
import { withoutAnchor } from '../../trail/anchor-text.ts'
import { github } from '../client/github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A check run of our App as GitHub has it now. */
export interface OurCheckRun {
  readonly id: number
  readonly name: string
  readonly headSha: string
  readonly status: string
  readonly conclusion: string | null
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** Without the place in a trail that it notes. */
  readonly externalId: string
  readonly detailsUrl: string | null
  readonly title: string
  readonly summary: string
  readonly text: string
  /** How many lines it annotates. */
  readonly annotations: number
}

/** The latest check run of each name that our App wrote on a commit, the newest first. Other Apps' runs are not ours. */
export async function listOurCheckRuns(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  sha: string,
): Promise<readonly OurCheckRun[]> {
  const found = await github(message`read the check runs of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.checks.listForRef, {
      owner,
      repo,
      ref: sha,
      app_id: app.id,
      filter: 'latest',
      per_page: 100,
    }),
  )
  const names = new Set<string>()
  return found
    .filter(one => one.app?.id === app.id && one.head_sha === sha)
    .sort((a, b) => b.id - a.id)
    .filter(({ name }) => !names.has(name) && names.add(name))
    .map(one => ({
      id: one.id,
      name: one.name,
      headSha: one.head_sha,
      status: one.status,
      conclusion: one.conclusion,
      startedAt: one.started_at,
      completedAt: one.completed_at,
      externalId: withoutAnchor(one.external_id ?? ''),
      detailsUrl: one.details_url,
      title: one.output.title ?? '',
      summary: one.output.summary ?? '',
      text: one.output.text ?? '',
      annotations: one.output.annotations_count,
    }))
}
