import { foreignCommits, type TrailCommit } from './foreign-commits.ts'
import { gapDecision } from './gap-decision.ts'
import type { TrailEnd } from './read-last-file.ts'
import type { TrailDecision, TrailEntry, WrittenEnd } from './trail-entry.ts'
import { lineOf } from './trail-line.ts'

/** The current end of a trail's branch: its last commit, and the entries of its last file. */
interface PresentEnd extends TrailEnd {
  readonly commit: TrailCommit & { readonly parents: readonly string[] }
}

/**
 * Why nothing may be added to a trail; undefined if it continues from `known`, the last entry that the App wrote. Its last commit
 * must be the recorded one, or the commit of a write whose response was lost: signed by the App, a child of the recorded commit,
 * and with exactly the `waiting` decisions. `fleet`: id of its repository. Author and signature alone prove nothing, because GitHub also signs as the App when
 * a person squashes a pull request of the App.
 */
export function whyNotContinued(
  present: PresentEnd | undefined,
  known: WrittenEnd | undefined,
  waiting: readonly TrailDecision[],
  { slug, fleet }: { readonly slug: string; readonly fleet: number },
): string | undefined {
  if (present === undefined) {
    return known === undefined ? undefined : `the branch is gone, and entry ${known.seq} was written to it`
  }
  const { commit, head } = present
  const own = known?.commit
  if (own === commit.sha) {
    return head?.seq === known?.seq && head?.hash === known?.hash
      ? undefined
      : 'the last entry is not the one that was written'
  }
  if (foreignCommits([commit], slug).length > 0) {
    return `this App did not write commit ${commit.sha}, or GitHub does not verify its signature`
  }
  const other = present.entries.find(entry => entry.fleet !== undefined && entry.fleet !== fleet)
  if (other) return `entry ${other.seq} is of another fleet, the repository with the id ${other.fleet}`
  // the store is new or was lost, so only the trail itself is known
  if (known === undefined) return undefined
  const isChild = own === undefined || (commit.parents.length === 1 && commit.parents[0] === own)
  if (isChild && isLostAnswer(present, known, waiting)) return undefined
  // stores of earlier releases recorded no commit
  if (own === undefined && head?.seq === known.seq && head.hash === known.hash) return undefined
  const ends = head === undefined ? 'it has no entry' : `it ends at entry ${head.seq}`
  return `${ends} of commit ${commit.sha}, and entry ${known.seq} was written last${own === undefined ? '' : `, by commit ${own}`}`
}

/** Whether the last file is, byte by byte, what writing the waiting decisions after `known` produces. */
function isLostAnswer({ entries }: TrailEnd, known: WrittenEnd, waiting: readonly TrailDecision[]): boolean {
  const [first] = entries
  if (first?.seq !== known.seq + 1 || first.previous !== known.hash) return false
  const firsts = new Map([...waiting].reverse().map(one => [one.id, one]))
  return entries.every(entry => isSame(entry, entry.kind === 'gap' ? gapAgain(entry) : firsts.get(entry.id)))
}

function isSame(entry: TrailEntry, decision: TrailDecision | undefined): boolean {
  if (decision === undefined) return false
  const { seq, previous, fleet } = entry
  const place = { seq, previous, ...(fleet === undefined ? {} : { fleet }) }
  return lineOf({ ...decision, ...place }) === lineOf(entry)
}

/** No store keeps the number of lost decisions, so it comes from the entry; a gap entry records nothing else. */
function gapAgain({ result, who, repository, engine, at }: TrailEntry): TrailDecision {
  return gapDecision(Number.parseInt(result, 10), { who, repository, engine, at })
}
