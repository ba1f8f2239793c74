export type Side = 'LEFT' | 'RIGHT'

export interface PatchPlace {
  /** Which hunk of the patch it is, from 0. */
  readonly hunk: number
  /** Lines below the first "@@", as GitHub's older `position` counts. */
  readonly position: number
  /** The hunk down to that line. */
  readonly text: string
}

/** Where a patch shows a line of the old (LEFT) or new (RIGHT) file; undefined where it does not show it. */
export function placeInPatch(patch: string, side: Side, line: number): PatchPlace | undefined {
  let [hunk, old, now, start] = [-1, 0, 0, 0]
  const lines = patch.split('\n')
  for (const [index, each] of lines.entries()) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(each)
    if (head) {
      hunk++
      ;[old, now, start] = [Number(head[1]), Number(head[2]), index]
      continue
    }
    const sign = each[0]
    const isIt = side === 'LEFT' ? sign !== '+' && old === line : sign !== '-' && now === line
    if (sign !== '\\' && isIt) return { hunk, position: index, text: lines.slice(start, index + 1).join('\n') }
    if (sign === ' ' || sign === '-') old++
    if (sign === ' ' || sign === '+') now++
  }
  return undefined
}
