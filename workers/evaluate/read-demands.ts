import { guardedChanges } from '../../src/evaluate/approvals/guarded-changes.ts'
import { approvalOf } from '../../src/evaluate/approvals/required-approvals.ts'
import type { RequiredApproval } from '../../src/rules/model/finding.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import { type AskedApprovals, type AskedPull, adminApprovals } from './admin-demands.ts'
import type { CommitOutcome, FleetApprovals } from './commit-outcome.ts'
import { forkApproval } from './fork-demand.ts'

/**
 * Returns the approvals that a pull request still needs, and those that were given. Makes no request to GitHub if it changes no guarded file of a
 * fleet, asks for nothing else and is not from a fork. `evaluated` lists its changes.
 */
export async function readApprovals(
  subject: OpenedRepository,
  asked: AskedPull,
  evaluated: CommitOutcome,
): Promise<AskedApprovals> {
  const { pull } = asked
  const changed = evaluated.context.changedPaths
  if (evaluated.outcome === undefined || changed === undefined) return { missing: [], approvals: [] }
  const fleets = (await subject.installation.designation()).fleets
  const own = fleets.find(
    ({ repository, branch }) => repository.url === subject.repository.url && branch === pull.base.ref,
  )
  const required: FleetApprovals[] = [
    ...(own ? [{ fleet: own, approvals: guardedChanges(changed).map(approvalOf) }] : []),
    ...(evaluated.required ?? []).map(({ fleet, approvals }) => ({
      fleet,
      approvals: approvals.map(one => forReaders(one, changed)),
    })),
  ]
  const byFleet = Map.groupBy(required, ({ fleet }) => `${fleet.repository.url} ${fleet.branch}`)
  const all = await Promise.all(
    [...byFleet.values()].map(ofFleet =>
      adminApprovals(
        subject,
        asked,
        ofFleet[0]!.fleet,
        ofFleet.flatMap(one => one.approvals),
      ),
    ),
  )
  const fork = pull.head.fork ? [await forkApproval(subject, pull, fleets)] : []
  const both = [...all, ...fork]
  return { missing: both.flatMap(one => one.missing), approvals: both.flatMap(one => one.approvals) }
}

/** A file of another repository is not named to the readers of this one. */
function forReaders(approval: RequiredApproval, changed: ReadonlySet<string>): RequiredApproval {
  if (changed.has(approval.path)) return approval
  const message = approval.source
    ? 'it lets a tenant deploy from a source that no fleet admin has approved'
    : 'it makes Flux download a new remote file, which is not evaluated'
  return { ...approval, path: '', message }
}
