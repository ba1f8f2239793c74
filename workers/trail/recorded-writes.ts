import { hash } from 'node:crypto'
import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { addDeployKey, removeDeployKey } from '../../src/github/keys/deploy-keys.ts'
import { commitFiles } from '../../src/github/pulls/commit-files.ts'
import { type OpenedPullRequest, openPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { type FleetAddress, type NewDecision, recordDecision } from './record-decision.ts'

type Recording = Pick<WorkerContext, 'outbox' | 'queue' | 'config'>

/** The installation in whose name the App writes, and the fleet; undefined: no fleet is affected, so no trail records it. */
export interface ActOf {
  readonly context: Recording
  readonly app: AppIdentity
  readonly fleet: FleetAddress | undefined
}

/** Opens or updates a pull request and records it in the trail. A retry does not add a second entry. */
export async function openRecordedPull(
  act: ActOf,
  octokit: Octokit,
  name: RepositoryName,
  wanted: Parameters<typeof openPullRequest>[3],
): Promise<OpenedPullRequest> {
  const opened = await openPullRequest(octokit, act.app, name, wanted)
  const { number: pull, head: commit } = opened
  await record(act, name, { kind: 'pull-request', result: 'opened', pull, commit, what: `#${pull} ${commit}` })
  return opened
}

/**
 * Commits files to a branch of a pull request, as `commitFiles` does. Records the commit before the branch moves, so that a
 * crash cannot hide it; if the branch moved meanwhile, the recorded commit is on no branch.
 */
export function commitRecorded(
  act: ActOf,
  octokit: Octokit,
  name: RepositoryName,
  pull: number,
  wanted: Omit<Parameters<typeof commitFiles>[2], 'beforeMove'>,
): Promise<string | undefined> {
  const beforeMove = (commit: string) =>
    record(act, name, { kind: 'commit', result: 'committed', pull, commit, what: commit })
  return commitFiles(octokit, name, { ...wanted, beforeMove })
}

/** Adds a read-only deploy key and records it in the trail. False: GitHub refuses the key. */
export async function addRecordedKey(
  act: ActOf,
  octokit: Octokit,
  name: RepositoryName,
  wanted: Parameters<typeof addDeployKey>[2],
): Promise<boolean> {
  const added = await addDeployKey(octokit, name, wanted)
  if (added === undefined) return false
  await record(act, name, { kind: 'key-added', result: 'added', what: `${added} ${wanted.key}` })
  return true
}

/** Deletes a deploy key. Records it before the deletion, so that a crash cannot hide it. */
export function removeRecordedKey(act: ActOf, octokit: Octokit, name: RepositoryName, key: string): Promise<void> {
  return removeDeployKey(octokit, name, key, id =>
    record(act, name, { kind: 'key-deleted', result: 'deleted', what: `${id} ${key}` }),
  )
}

/** `what`: identifies the action within a repository. A deploy key and its title stay on GitHub; the trail stores only a hash. */
async function record(
  { context, app, fleet }: ActOf,
  { owner, repo }: RepositoryName,
  { what, ...act }: Pick<NewDecision, 'kind' | 'result' | 'pull' | 'commit'> & { readonly what: string },
): Promise<void> {
  if (fleet === undefined) return
  const repository = `${owner}/${repo}`
  const digest = hash('sha256', `${act.kind} ${repository} ${what}`)
  const decision = { ...act, id: `${act.kind} ${digest}`, who: `${app.slug}[bot]`, repository, revisions: [], digest }
  await recordDecision(context, fleet, decision, { once: true })
}
