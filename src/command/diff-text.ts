import type { Changes } from '../diff/changes.ts'
import { changesText } from '../report/changes/changes-text.ts'
import { commandError, quoted } from './command-error.ts'

/** How to write it. */
export const DIFF_USAGE = 'diff [CLUSTER]'

/**
 * Describes the rendered changes of a pull request that its readers may see. `clusters`: the visible cluster names.
 * Throws `command-input` for any other name.
 */
export function diffText(
  words: readonly string[],
  changes: Changes | undefined,
  clusters: readonly string[],
  page: string | undefined,
): string {
  const [cluster, more] = words
  if (more !== undefined)
    throw commandError(`${quoted(more)} is an extra argument`, `Write \`/bailiwick ${DIFF_USAGE}\``)
  if (cluster !== undefined && !clusters.includes(cluster)) {
    throw commandError(`unknown cluster ${quoted(cluster)}`, `Clusters: ${clusters.join(', ') || 'none'}.`)
  }
  if (!changes) return 'The rendered changes are not known. The verdict has the reason.'
  return changesText(changes, {
    ...(cluster === undefined ? {} : { cluster }),
    ...(page === undefined ? {} : { page }),
  })
}
