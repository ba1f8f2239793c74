import { readBranch } from '../../src/github/branches.ts'
import type { Attempt, ValidateMergeGroup } from '../../src/receive/queue.ts'
import type { RequiredApproval } from '../../src/rules/model/finding.ts'
import { assertDesignated } from '../fleets/designation.ts'
import { evaluateChange, peopleOfGroup } from '../fleets/evaluate-change.ts'
import { openWritable } from '../fleets/github-installation.ts'
import type { Case, WorkerContext } from '../fleets/worker-context.ts'
import { readBases } from '../gate/bases.ts'
import { type CommitOutcome, type FleetApprovals, outcomeOf } from '../gate/commit-outcome.ts'
import { changedPaths } from '../gate/evaluate-pull-request.ts'
import { readGroupDecisions } from '../gate/human-decisions.ts'
import { pageCommitOfGroup } from '../gate/keep-pages.ts'
import { announceSlow, HeadRuns, publishChecks, watched } from '../gate/publish-checks.ts'
import { finalError } from '../job-error.ts'

/**
 * Evaluates the tree that a merge queue would merge, and publishes the verdict on the group's commit, because two pull
 * requests that pass alone may fail together. The base is the present branch and not the previous group: a queue may
 * merge several groups by the verdict on the last one (HEADGREEN).
 */
export async function validateMergeGroup(context: WorkerContext, data: ValidateMergeGroup, attempt: Attempt) {
  const subject = await openWritable(context, data, attempt)
  if (!subject) return
  const { repository, writer } = subject
  const where = { kind: 'merge-group', repository: repository.url, headSha: data.sha } as const
  const { list: runs, withLock } = new HeadRuns(context.queue, subject, data.sha)
  const checks = await (await readBases(subject)).checksOf([data.branch])
  if (checks.length === 0) return
  const names = checks.map(({ name }) => name)
  const announced = announceSlow({ place: writer, headSha: data.sha, names, runs, withLock, log: context.log })
  let evaluated: CommitOutcome
  try {
    evaluated = await evaluateGroup(watched(subject, announced), data, where)
  } catch (error) {
    await announced.end()
    const outcome = finalError(error, attempt)
    context.log.error({ err: error, commit: `${repository.url}@${data.sha}` }, 'merge group could not be evaluated')
    evaluated = { outcome, context: where }
  }
  const present = (await announced.end()) ?? (await runs())
  const about = await pageCommitOfGroup(subject, data)
  await withLock(present, latest => publishChecks(subject, { writer, about, runs: latest }, checks, evaluated))
}

async function evaluateGroup(
  subject: Case,
  data: ValidateMergeGroup,
  where: CommitOutcome['context'],
): Promise<CommitOutcome> {
  const { installation, repository } = subject
  await assertDesignated(installation)
  const pin = { url: repository.url, branch: data.branch }
  const present = await readBranch(subject, data.branch)
  // a group that was merged meanwhile is compared with what it was made on
  const baseCommit = present && present.commit !== data.sha ? present.commit : data.base
  const head = { ...pin, commit: data.sha }
  const people = peopleOfGroup(subject, data.branch, { sha: data.sha, base: baseCommit })
  const answers = await evaluateChange(subject, {
    head,
    base: { ...pin, commit: baseCommit },
    people,
    isGated: true,
  })
  const { outcome, required, ...statement } = outcomeOf(answers, repository.url, where.kind)
  const alone = data.base === baseCommit
  if (answers.length === 0) {
    const untouched = { outcome, context: where }
    return {
      outcome,
      context: {
        ...where,
        decisions: await readGroupDecisions(subject, data, { alone, evaluated: untouched }),
      },
    }
  }
  const content = (commit: string) => installation.content(repository, commit)
  const [before, previous, after] = await Promise.all([baseCommit, data.base, head.commit].map(content))
  const evaluated: CommitOutcome = {
    outcome,
    context: { ...where, ...statement, changedPaths: changedPaths(before!, after!) },
  }
  // approvals for earlier groups are requested on those groups
  const earlier = required.length === 0 || alone ? [] : await requiredBefore(subject, data, baseCommit)
  const own: CommitOutcome = {
    outcome,
    context: { ...evaluated.context, changedPaths: changedPaths(previous!, after!) },
    required: withoutEarlier(required, earlier),
  }
  const decisions = await readGroupDecisions(subject, data, { alone, evaluated: own })
  return { outcome, context: { ...evaluated.context, decisions }, tree: after! }
}

/** The approvals that earlier groups need, as their contributors may read them; they are requested on those groups. */
async function requiredBefore(
  subject: Case,
  data: ValidateMergeGroup,
  base: string,
): Promise<readonly FleetApprovals[]> {
  const { repository } = subject
  const pin = { url: repository.url, branch: data.branch }
  const before = await evaluateChange(subject, {
    head: { ...pin, commit: data.base },
    base: { ...pin, commit: base },
    people: peopleOfGroup(subject, data.branch, { sha: data.base, base }),
  })
  return outcomeOf(before, repository.url, 'merge-group').required
}

function withoutEarlier(
  required: readonly FleetApprovals[],
  earlier: readonly FleetApprovals[],
): readonly FleetApprovals[] {
  const keyOf = ({ fleet }: FleetApprovals, one: RequiredApproval) =>
    JSON.stringify([fleet.repository.url, fleet.branch, one.rule, one.path, one.message])
  const known = new Set(earlier.flatMap(all => all.approvals.map(one => keyOf(all, one))))
  return required.map(all => ({ ...all, approvals: all.approvals.filter(one => !known.has(keyOf(all, one))) }))
}
