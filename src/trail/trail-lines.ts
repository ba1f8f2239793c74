import type { TrailEntry } from './trail-entry.ts'
import { hashOfLine, readLine } from './trail-line.ts'

const LINE_FEED = 0x0a

/** A line of a file of a trail. */
export interface TrailLine {
  /** From 1. */
  readonly number: number
  readonly hash: string
  /** Undefined for bytes that are no entry, exactly as it is written. */
  readonly entry: TrailEntry | undefined
}

/** Whether the last line of a file is complete. */
export const isWhole = (bytes: Uint8Array): boolean => bytes.at(-1) === LINE_FEED

/** The lines of a file of a trail, by their bytes and not by their text: two spellings of one text are two lines. */
export function* trailLines(bytes: Uint8Array): Generator<TrailLine> {
  const all = Buffer.from(bytes)
  let start = 0
  for (let number = 1; start < all.length; number++) {
    const at = all.indexOf(LINE_FEED, start)
    const end = at < 0 ? all.length : at
    const line = all.subarray(start, end)
    const text = line.toString('utf8')
    const entry = Buffer.byteLength(text) === line.length ? readLine(text) : undefined
    yield { number, hash: hashOfLine(line), entry }
    start = end + 1
  }
}
