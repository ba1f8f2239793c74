/** The branch of the fleet repository that holds the trail. */
export const TRAIL_BRANCH = 'bailiwick/trail'
/** Its one folder. */
export const TRAIL_FOLDER = 'trail'

/** The file that begins with an entry: its number in ten digits, so that files sort as entries do. */
export const trailFile = (seq: number): string => `${TRAIL_FOLDER}/${String(seq).padStart(10, '0')}.jsonl`

/** A file of the trail as the branch has it. */
export interface TrailFile {
  readonly path: string
  readonly bytes: Uint8Array
}
