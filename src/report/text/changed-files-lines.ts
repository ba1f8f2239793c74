import { andMore } from '../../message/and-more.ts'
import type { ChangedFile } from '../../rules/model/finding.ts'

/** Words for each state, the most important first. */
const STATES: readonly (readonly [ChangedFile['state'], string])[] = [
  ['unseen', 'not checked'],
  ['unread', 'read by nothing'],
  ['rendered', 'rendered'],
]
/** So many files of one state are named, and so many of what reads one. */
const FEW = 20
const FEW_READERS = 3

/**
 * What becomes of the changed files: a line of counts, and one for each file but those in the state `besides`. `show`: a
 * value as the surface writes it.
 */
export function changedFilesLines(
  files: readonly ChangedFile[],
  show: (value: string) => string,
  besides?: ChangedFile['state'],
): { readonly counts: string; readonly lines: readonly string[] } {
  const byState = STATES.flatMap(([state, words]) => {
    const all = files.filter(one => one.state === state)
    return all.length === 0 ? [] : [{ state, words, all }]
  })
  const counts = `Changed files: ${byState.map(({ words, all }) => `${all.length} ${words}`).join(', ')}`
  const lines = byState.flatMap(({ state, words, all }) => {
    if (state === besides) return []
    const shown = all.slice(0, FEW).map(one => `${words}: ${show(one.path)}${readersOf(one, show)}`)
    return all.length > FEW ? [...shown, `${words}: ${all.length - FEW} more`] : shown
  })
  return { counts, lines }
}

function readersOf({ by, readers }: ChangedFile, show: (value: string) => string): string {
  if (readers === 0) return ''
  const shown = by.slice(0, FEW_READERS)
  return `: ${shown.map(show).join(', ')}${andMore(readers - shown.length)}`
}
