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

/**
 * The fleet, and where something of it does not build, with what that was in the last commit that built it. `build` builds it
 * again with that and reads what it then needs. What builds asks git for nothing.
 */
export async function withEarlier(
  built: BuiltFleet,
  history: History,
  session: FleetSession,
  build: (compared: Compared) => Promise<BuiltFleet>,
): Promise<BuiltFleet> {
  const older = new FleetSession()
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
    const most = Math.max(2, earlier.states.length * 2)
    const states = [...earlier.states]
    for (const commit of commits.slice(states.length, most)) {
      states.push({ commit, tree: await openCommit(history.dir, commit, built.input.fleet.tree) })
    }
    earlier = { states, isAll: states.length >= commits.length }
  }
}

async function firstParents({ dir, commit }: History): Promise<string[]> {
  if (!(await isWorkingCopy(dir))) return []
  const from = commit === undefined ? ['HEAD'] : ['--skip=1', commit]
  const listed = await askGit(dir, ['rev-list', '--first-parent', `--max-count=${MAX_EARLIER}`, ...from])
  return listed?.toString().split('\n').filter(Boolean) ?? []
}
