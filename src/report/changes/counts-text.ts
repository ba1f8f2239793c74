import type { Counts } from '../../diff/changes.ts'

/** `1 added, 2 changed, 3 removed (3 DELETED)`, `4 moved, 1 of them DELETED`; '' for nothing. Plain text and Markdown alike. */
export function countsText({ added, changed, replaced, moved, removed, deleted }: Counts): string {
  const parts = [
    ...(added > 0 ? [`${added} added`] : []),
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(replaced > 0 ? [`${replaced} replaced`] : []),
    ...(moved > 0 ? [`${moved} moved`] : []),
    ...(removed > 0 ? [`${removed} removed${deleted > 0 && moved === 0 ? ` (${deleted} DELETED)` : ''}`] : []),
    ...(moved > 0 && deleted > 0 ? [`${deleted} of them DELETED`] : []),
  ]
  return parts.join(', ')
}
