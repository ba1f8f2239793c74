import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import type { OwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { applyRunName } from '../../src/report/apply-report.ts'
import type { RotationPlace } from './rotation-question.ts'

/** Which clusters have not applied a merged pull request yet, as far as our own check runs say; in plain words. */
export async function waitsOf(
  { context, reader, place, installation, fleet }: RotationPlace,
  { mergeCommit }: OwnPull,
  clusters: readonly string[],
): Promise<string[]> {
  const head = await installation.head(fleet, { branch: fleet.defaultBranch })
  const commits = new Set([mergeCommit, head].filter(sha => sha !== undefined))
  const runs = (await Promise.all([...commits].map(sha => listOurCheckRuns(reader, place.app, place, sha)))).flat()
  return clusters.flatMap(cluster => {
    const binding = context.bindings.find(
      ({ name, fleet: url, branch }) => name === cluster && url === fleet.url && branch === fleet.defaultBranch,
    )
    if (binding?.mode !== 'reconcile') {
      return [`a fleet admin says that ${cluster} reads with the new key: no worker of Bailiwick applies there`]
    }
    const applied = runs.some(({ name, conclusion }) => name === applyRunName(cluster) && conclusion === 'success')
    return applied ? [] : [`the worker has applied it to ${cluster}`]
  })
}
