import { count } from './text/headline.ts'

/** How far an evaluation is. `known`: Kustomizations that need not be rendered again; `total`: as many as there were last time. */
export type Progress =
  | { readonly state: 'queued' }
  | { readonly state: 'rendering'; readonly rendered: number; readonly known: number; readonly total?: number }

/** The check run of an evaluation that takes a while. */
interface AnnouncementText {
  readonly status: 'queued' | 'in_progress'
  readonly title: string
  readonly summary: string
}

/** What is said meanwhile: `3 of 61 Kustomizations rendered (58 known)`. */
export function announcementOf(progress: Progress): AnnouncementText {
  const summary = 'Bailiwick posts the verdict here when it is done. Until then this check blocks.'
  if (progress.state === 'queued') return { status: 'queued', title: 'Queued', summary }
  const { rendered, known, total } = progress
  // a change may bring more than there were: then nobody knows how many there will be
  const isKnown = total !== undefined && total >= rendered + known
  const done = isKnown ? `${rendered} of ${count(total, 'Kustomization')}` : count(rendered, 'Kustomization')
  const title = `${done} rendered${known > 0 ? ` (${known} known)` : ''}`
  return { status: 'in_progress', title, summary }
}
