import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** How many test files the cases are dealt to: `attacks-1.test.ts` and so on. */
export const SHARES = 4

/** The ids of all cases: the folders with a case.yaml. */
export function caseIds(): string[] {
  return readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && entry.name !== 'worlds')
    .map(entry => entry.name)
    .sort()
}

/** The cases of one share. */
export const casesOfShare = (share: number): string[] => deal()[share - 1]!.sort()

/** The share of a case; undefined where there is none of that name. */
export function shareOf(id: string): number | undefined {
  const at = deal().findIndex(ids => ids.includes(id))
  return at < 0 ? undefined : at + 1
}

/** All cases, the largest first, each dealt to the share that has the least. */
function deal(): string[][] {
  const shares = Array.from({ length: SHARES }, () => ({ ids: [] as string[], bytes: 0 }))
  const sized = caseIds().map(id => ({ id, bytes: statSync(join(import.meta.dirname, id, 'case.yaml')).size }))
  for (const { id, bytes } of sized.sort((a, b) => b.bytes - a.bytes || (a.id < b.id ? -1 : 1))) {
    const least = shares.reduce((a, b) => (b.bytes < a.bytes ? b : a))
    least.ids.push(id)
    least.bytes += bytes
  }
  return shares.map(({ ids }) => ids)
}
