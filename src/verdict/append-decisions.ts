import { BailiwickError } from '../base/errors.ts'
import {
  gapDecision,
  hashOfLine,
  isWhole,
  lineOf,
  NO_ENTRY,
  type TrailAnchor,
  type TrailDecision,
  type TrailEntry,
  type TrailFile,
  trailFile,
  trailLines,
  type WrittenEnd,
} from './trail-entry.ts'

/** The next file of a trail, and the place of its last entry. */
interface AppendedTrail {
  readonly file: TrailFile
  readonly head: TrailAnchor
}

/**
 * The file that adds decisions behind the last entry of a trail; undefined where all of them are there already. `last`: the
 * entries of its last file, which a retry may repeat if the response to the first write was lost. `fleet`: id of the fleet's repository.
 */
export function appendDecisions(
  decisions: readonly TrailDecision[],
  head: TrailAnchor | undefined,
  last: readonly Pick<TrailEntry, 'id'>[],
  fleet?: number,
): AppendedTrail | undefined {
  const known = new Set(last.map(({ id }) => id))
  const lines: string[] = []
  let { seq, hash } = head ?? { seq: 0, hash: NO_ENTRY }
  const first = seq + 1
  for (const decision of decisions) {
    if (known.has(decision.id)) continue
    known.add(decision.id)
    seq += 1
    const line = lineOf({ ...decision, seq, previous: hash, ...(fleet === undefined ? {} : { fleet }) })
    hash = hashOfLine(line)
    lines.push(line)
  }
  if (lines.length === 0) return undefined
  return { file: { path: trailFile(first), bytes: Buffer.from(`${lines.join('\n')}\n`) }, head: { seq, hash } }
}

/** The end of a trail: the entries of its last file. */
export interface TrailEnd {
  readonly entries: readonly TrailEntry[]
  readonly head: TrailAnchor | undefined
}

/** The end of a trail without entries. */
export const EMPTY_TRAIL: TrailEnd = { entries: [], head: undefined }

/** The last file of a trail. Throws `git-corrupt` for one that is not as it was written. */
export function readLastFile({ path, bytes }: TrailFile): TrailEnd {
  const entries: TrailEntry[] = []
  let last: string | undefined
  for (const { entry, hash } of trailLines(bytes)) {
    const before = entries.at(-1)
    const follows = before === undefined || (entry?.seq === before.seq + 1 && entry.previous === last)
    if (entry === undefined || !follows) throw damaged(path)
    entries.push(entry)
    last = hash
  }
  const [first] = entries
  if (!isWhole(bytes) || first === undefined || last === undefined || path !== trailFile(first.seq)) throw damaged(path)
  return { entries, head: { seq: first.seq + entries.length - 1, hash: last } }
}

function damaged(path: string): BailiwickError {
  return new BailiwickError('git-corrupt', `${path}: not as it was written. Nothing is added to this trail`, {
    fix: 'Restore the branch of the trail, and protect it against pushes.',
  })
}

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

/** A commit of a trail's branch, as GitHub shows it. */
export interface TrailCommit {
  readonly sha: string
  /** Logins of the accounts that GitHub found; absent: none. */
  readonly author?: string | undefined
  readonly committer?: string | undefined
  /** GitHub verified its signature. */
  readonly verified: boolean
}

/** GitHub's own account, by which it signs what it commits for others. */
const WEB_FLOW = 'web-flow'

/**
 * The commits that the App did not write. Anybody can name the App as the author of a commit, and sign it as its committer: a
 * commit counts only where GitHub verified its signature, and GitHub or the App is its committer.
 */
export function foreignCommits(commits: readonly TrailCommit[], slug: string): readonly TrailCommit[] {
  const bot = `${slug}[bot]`.toLowerCase()
  return commits.filter(({ author = '', committer = '', verified }) => {
    return !verified || author.toLowerCase() !== bot || ![bot, WEB_FLOW].includes(committer.toLowerCase())
  })
}

/** The message of a commit that adds a file. It keeps workflows from running. */
export const commitMessage = (first: number, last: number): string => `trail: entries ${first} to ${last} [skip ci]`

/** The file that a trail commit added, parsed from its message; undefined for another message. */
export function addedFile(message: string): string | undefined {
  const [, first] = /^trail: entries ([1-9]\d{0,14}) to [1-9]\d{0,14} \[skip ci\]$/.exec(message) ?? []
  return first === undefined ? undefined : trailFile(Number(first))
}

/** The number of the entry that follows an end. */
export const nextEntry = ({ head }: TrailEnd): number => (head?.seq ?? 0) + 1
