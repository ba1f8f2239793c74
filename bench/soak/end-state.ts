import { CHECK_NAME } from '../../src/verdict/check-names.ts'
import type { FakeGitHub } from '../../tools/github/start.ts'
import { REPOSITORY } from './story.ts'

/** What stands on each open pull request when all is done, without ids of commits; `missing`: those without a completed check. */
export interface EndState {
  readonly said: ReadonlyMap<string, string>
  readonly missing: readonly string[]
}

export function endStateOf(github: FakeGitHub): EndState {
  const said = new Map<string, string>()
  const missing: string[] = []
  for (const pull of github.pullRequestsOf(REPOSITORY)) {
    const { ref, sha } = pull.head
    const run = github.checkRunsOf(REPOSITORY, sha).findLast(one => one.name === CHECK_NAME)
    if (run?.status !== 'completed') missing.push(ref)
    const comments = github.commentsOf(REPOSITORY, pull.issue.number).map(one => one.body)
    const text = JSON.stringify([run?.conclusion, run?.output, comments.sort()])
    // numbers of pull requests and ids of commits and combinations are another world's
    said.set(ref, text.replace(/\b[0-9a-f]{7,64}\b/g, '#').replace(/#\d+/g, '#'))
  }
  return { said, missing }
}

/** Branches whose end differs between two worlds. */
export function differences(calm: EndState, wild: EndState): string[] {
  const branches = new Set([...calm.said.keys(), ...wild.said.keys()])
  return [...branches].filter(branch => calm.said.get(branch) !== wild.said.get(branch)).sort()
}
