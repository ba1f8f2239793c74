import { BRANCH_CHECK_NAME, CHECK_NAME } from '../../../src/verdict/check-names.ts'
import type { Proposal } from '../../../tools/github/people.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import type { CheckRun } from '../../../tools/github/world.ts'
import type { Stage } from './stage.ts'

/** What was said last on a commit under one name. Throws when nothing was. */
export function said(github: FakeGitHub, repo: string, ref: string, name: string = CHECK_NAME): CheckRun {
  const found = github.checkRunsOf(repo, ref).findLast(run => run.name === name)
  if (!found) throw new Error(`${repo}@${ref} has no check run ${name}`)
  return found
}

/** What was said last about the tip of a branch. */
export function saidOfTip(github: FakeGitHub, repo: string, ref = 'main'): CheckRun {
  return said(github, repo, ref, BRANCH_CHECK_NAME)
}

/** What was said of an apply to staging. */
export function saidOfApply(github: FakeGitHub, repo: string): CheckRun {
  return said(github, repo, 'main', 'bailiwick / apply (staging)')
}

/** Opens a pull request of Ada's onto main with these files and waits for its verdict. */
export async function propose(stage: Stage, change: Omit<Proposal, 'as'>): Promise<CheckRun> {
  stage.github.propose({ ...change, as: 'ada' })
  await stage.settle()
  return said(stage.github, change.repo, change.branch)
}

/** Where the lines of a check run are. */
export function linesOf(run: CheckRun): { path: string; line: number }[] {
  return run.annotations.map(({ path, start_line: line }) => ({ path, line }))
}
