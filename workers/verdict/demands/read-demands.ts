import type { Demand } from '../../../src/gate/circumstances.ts'
import type { PullRequest } from '../../../src/github/pull-request.ts'
import type { Said, Subject } from '../judge-pull-request.ts'
import { forkDemand } from './fork-demand.ts'
import { guardedDemands } from './guarded-demands.ts'

/**
 * What a pull request asks somebody with more rights to agree to, and nobody did yet. Asks GitHub nothing where it changes
 * no guarded file of a fleet and comes from no fork. `said`: its verdict, which knows what it changes.
 */
export async function readDemands(subject: Subject, pull: PullRequest, said: Said): Promise<readonly Demand[]> {
  const changed = said.context.changedPaths
  if (said.outcome === undefined || changed === undefined) return []
  const fleets = (await subject.installation.designation()).fleets
  const own = fleets.find(
    ({ repository, branch }) => repository.url === subject.repository.url && branch === pull.base.ref,
  )
  const guarded = own ? await guardedDemands(subject, pull, own, changed) : []
  const fork = pull.head.fork ? await forkDemand(subject, pull, fleets) : undefined
  return fork ? [...guarded, fork] : guarded
}
