import type { TrailEnd } from './read-last-file.ts'
import { trailFile } from './trail-files.ts'

/** The message of a commit that adds a file. It keeps workflows from running. */
export const commitMessage = (first: number, last: number): string => `trail: entries ${first} to ${last} [skip ci]`

/** The file that a trail commit added, parsed from its message; undefined for another message. */
export function addedFile(message: string): string | undefined {
  const [, first] = /^trail: entries ([1-9]\d{0,14}) to [1-9]\d{0,14} \[skip ci\]$/.exec(message) ?? []
  return first === undefined ? undefined : trailFile(Number(first))
}

/** The number of the entry that follows an end. */
export const nextEntry = ({ head }: TrailEnd): number => (head?.seq ?? 0) + 1
