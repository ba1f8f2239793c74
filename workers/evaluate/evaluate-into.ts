import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/errors.ts'
import { NO_CIRCUMSTANCES } from '../../src/gate/circumstances.ts'
import { mergeTrees } from '../../src/git/merge-trees.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import { isOnlyMergeBase, readMergeBase } from '../../src/github/pulls/merge-base.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { message, part } from '../../src/message/message.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { Contributors } from '../fleets/source-reader.ts'
import { asBailiwickError, isTriedAgain } from '../job-error.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { evaluateMerge } from './evaluate-pull-request.ts'
import { readDemands } from './read-demands.ts'
import type { LedVerdict } from './worst-of-head.ts'

/** A commit that someone may lead onto a branch: what its check says counts there, too. */
interface LedHead {
  readonly sha: string
  /** Who brought it. */
  readonly people: Contributors
  /** Its pull request, whose approvals are of this head. */
  readonly pull?: PullRequest
}

/** Evaluates the merge into several branches; branches with a merge conflict are left out. */
export async function evaluateIntoEach(
  context: WorkerContext,
  subject: OpenedRepository,
  head: LedHead,
  branches: readonly string[],
  attempt: Attempt,
): Promise<readonly LedVerdict[]> {
  const led: LedVerdict[] = []
  for (const base of branches) {
    const said = await evaluateInto(context, subject, head, base, attempt)
    if (said) led.push({ base, said })
  }
  return led
}

/**
 * Evaluates what merging a head into a branch would give that it has no open pull request onto. Undefined where GitHub
 * cannot merge it: the branch is gone, holds it already, has another history, or conflicts.
 */
async function evaluateInto(
  context: WorkerContext,
  subject: OpenedRepository,
  { sha, people, pull }: LedHead,
  branch: string,
  attempt: Attempt,
): Promise<CommitOutcome | undefined> {
  const { repository, installation } = subject
  const where = { kind: 'pull-request', repository: repository.url, headSha: sha } as const
  try {
    const merged = await mergeInto(subject, sha, branch)
    if (merged === undefined) return undefined
    const { tree, base } = merged
    const merge = { sha: hash('sha1', `${base} ${sha} ${tree.id}`), tree: tree.id, base, head: sha }
    // nobody made this commit: what it holds is at hand
    const content: typeof installation.content = (of, commit, known) =>
      commit === merge.sha ? Promise.resolve(tree) : installation.content(of, commit, known)
    const led = { ...subject, installation: { ...installation, content } }
    const said = await evaluateMerge(context, led, { onto: branch, people }, merge, where)
    if (!pull) return said
    // what was approved for the branch that it is open onto counts there only
    const there = { pull: { ...pull, base: { ref: branch, sha: base } }, runs: async () => [] }
    const asked = await readDemands(subject, there, said)
    return { ...said, context: { ...said.context, circumstances: { ...NO_CIRCUMSTANCES, ...asked } } }
  } catch (error) {
    if (isTriedAgain(error, attempt)) throw error
    context.log.error(
      { err: error, head: `${repository.url}@${sha}`, branch },
      'head could not be evaluated for a base',
    )
    return { outcome: asBailiwickError(error), context: where }
  }
}

/** The tree that merging gives, and the commit of the branch. */
async function mergeInto(
  { repository, installation, octokit }: OpenedRepository,
  sha: string,
  branch: string,
): Promise<{ readonly tree: TreeSnapshot; readonly base: string } | undefined> {
  const base = await installation.head(repository, { branch })
  if (base === undefined) return undefined
  const name = { owner: repository.owner, repo: repository.name }
  const common = await readMergeBase(octokit, name, base, sha)
  if (!common || common.ahead === 0) return undefined
  const ours = await installation.content(repository, base)
  const theirs = await installation.content(repository, sha)
  if (common.commit === base) return { tree: theirs, base }
  const merged = (await isOnlyMergeBase(octokit, name, common, base, sha))
    ? mergeTrees(await installation.content(repository, common.commit, common.tree), ours, theirs)
    : 'unknown'
  if (merged === 'conflict') return undefined
  if (merged !== 'unknown') return { tree: merged.tree, base }
  throw new BailiwickError(
    'merge-unknown',
    message`The result of merging this head into ${part('branch', branch, JSON.stringify(branch))} is unknown`,
    {
      fix: `The required check counts at ${JSON.stringify(branch)}, too. Run \`/bailiwick gate\` on the fleet to require a check per branch, or open a pull request onto that branch.`,
    },
  )
}
