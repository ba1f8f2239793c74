import { hash } from 'node:crypto'
import type { TrailDecision } from './trail-entry.ts'

/** The entry that stands for decisions which could not wait: how many, and nothing else is known of them. */
export function gapDecision(
  lost: number,
  about: Pick<TrailDecision, 'who' | 'repository' | 'engine' | 'at'>,
): TrailDecision {
  const id = `gap ${about.at} ${lost}`
  return { ...about, id, kind: 'gap', result: `${lost} lost`, revisions: [], digest: hash('sha256', id) }
}
