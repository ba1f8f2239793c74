import { buildWithEarlier, type EarlierStates, MAX_EARLIER } from '../fleet/graph/build-with-earlier.ts'
import { FleetSession } from '../fleet/incremental/fleet-session.ts'
import { openCommit } from '../git/read-commit.ts'
import { askGit } from '../git/run-git.ts'
import { isWorkingCopy } from '../git/working-copy.ts'
import type { BuiltFleet, Compared } from './working-sources.ts'

/** Where the commits of a fleet's repository lie. */
export interface History {
  readonly dir: string
  /** The commit that was built; absent: the working copy on top of HEAD. */
  readonly commit?: string
}

/** No further commit is opened after this time: what none of them built is unknown. */
const MAX_SEARCH_MS = 2_000

/**
 * The fleet, and where something of it does not build, with what that was in the last commit that built it. `build` builds it
 * again with that and reads what it then needs. What builds asks git for nothing. `now` is the clock, in milliseconds.
 */
export async function withEarlier(
  built: BuiltFleet,
  history: History,
  session: FleetSession,
  build: (compared: Compared) => Promise<BuiltFleet>,
  now: () => number = () => performance.now(),
): Promise<BuiltFleet> {
  const older = new FleetSession(MAX_EARLIER)
  const end = now() + MAX_SEARCH_MS
  let earlier: EarlierStates = { states: [], isAll: false }
  let commits: readonly string[] | undefined
  for (;;) {
    const next = buildWithEarlier(
      input => session.build(input),
      built.input,
      earlier,
      input => older.build(input),
    )
    if (!next.isOpen || earlier.isAll) {
      const { retain } = next.input
      return retain ? build({ retain }) : built
    }
    commits ??= await firstParents(history)
    const commit = commits[earlier.states.length]
    if (commit === undefined) earlier = { ...earlier, isAll: true }
    else {
      const state = { commit, tree: await openCommit(history.dir, commit, built.input.fleet.tree) }
      const states = [...earlier.states, state]
      earlier = { states, isAll: states.length === commits.length || now() >= end }
    }
  }
}

async function firstParents({ dir, commit }: History): Promise<string[]> {
  if (!(await isWorkingCopy(dir))) return []
  const from = commit === undefined ? ['HEAD'] : ['--skip=1', commit]
  const listed = await askGit(dir, ['rev-list', '--first-parent', `--max-count=${MAX_EARLIER}`, ...from])
  return listed?.toString().split('\n').filter(Boolean) ?? []
}
