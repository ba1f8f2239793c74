import {
  isWhole,
  NO_ENTRY,
  type TrailAnchor,
  type TrailEntry,
  type TrailFile,
  type TrailLine,
  trailFile,
  trailLines,
} from './trail-entry.ts'

/** What does not fit: where, and why. */
export interface TrailProblem {
  readonly file: string
  /** From 1; 0: the file as a whole. */
  readonly line: number
  readonly message: string
}

/** A trail that was read. With problems nothing behind the first of them is proven. */
export interface ReadTrail {
  readonly entries: readonly TrailEntry[]
  /** Place of the last entry; undefined for an empty trail. */
  readonly head: TrailAnchor | undefined
  /** Id of the fleet's repository; undefined if no entry has one. */
  readonly fleet: number | undefined
  readonly problems: readonly TrailProblem[]
}

/**
 * Reads and checks a trail: each line exactly as it is written, numbers without gaps, each entry with the hash of the line
 * before it, each file named after its first entry, all entries of one fleet. This finds a line that was
 * changed, removed, added or moved. A trail that was truncated, or rewritten up to its end, is found only by anchors: entries
 * whose number and hash were noted elsewhere. `files`: all files of the branch, in any order.
 */
export function verifyTrail(files: readonly TrailFile[], anchors: readonly TrailAnchor[] = []): ReadTrail {
  const chain = new Chain()
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) chain.readFile(file)
  for (const anchor of anchors) chain.holdTo(anchor)
  return chain
}

class Chain implements ReadTrail {
  readonly entries: TrailEntry[] = []
  readonly problems: TrailProblem[] = []
  readonly #hashes: string[] = []
  fleet: number | undefined

  get head(): TrailAnchor | undefined {
    const hash = this.#hashes.at(-1)
    return hash === undefined ? undefined : { seq: this.#hashes.length, hash }
  }

  readFile({ path, bytes }: TrailFile): void {
    const expected = trailFile(this.#hashes.length + 1)
    if (path !== expected) this.#say(path, 0, `the next file is named ${expected}`)
    if (!isWhole(bytes)) this.#say(path, 0, 'the last line is incomplete')
    for (const line of trailLines(bytes)) this.#readLine(path, line)
  }

  #readLine(path: string, { number, hash, entry }: TrailLine): void {
    const previous = this.#hashes.at(-1) ?? NO_ENTRY
    const seq = this.#hashes.length + 1
    this.#hashes.push(hash)
    if (entry === undefined) {
      this.#say(path, number, 'not an entry of a trail')
      return
    }
    this.entries.push(entry)
    if (entry.seq !== seq) this.#say(path, number, `entry ${entry.seq} is in the place of entry ${seq}`)
    this.#holdToFleet(path, number, entry)
    if (entry.previous !== previous) this.#say(path, number, `entry ${entry.seq} does not follow the line before it`)
  }

  /** Entries of earlier releases name no fleet; every entry after the first one with a fleet must name the same fleet. */
  #holdToFleet(path: string, line: number, { seq, fleet }: TrailEntry): void {
    if (this.fleet === undefined) this.fleet = fleet
    else if (fleet !== this.fleet) {
      const whose = fleet === undefined ? 'names no fleet' : `is of the fleet with the id ${fleet}`
      this.#say(path, line, `entry ${seq} ${whose}, and those before it are of the fleet with the id ${this.fleet}`)
    }
  }

  holdTo({ seq, hash }: TrailAnchor): void {
    const present = this.#hashes[seq - 1]
    if (present === undefined) {
      const last = this.#hashes.length
      this.#say('', 0, `entry ${seq} is missing: it was published, and the trail ends at entry ${last}`)
    } else if (!present.startsWith(hash)) this.#say('', 0, `entry ${seq} is not the one that was published`)
  }

  #say(file: string, line: number, message: string): void {
    this.problems.push({ file, line, message })
  }
}
