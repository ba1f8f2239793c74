import { type Html, html } from './html.ts'

/** How many jobs of a kind are in a state. */
export interface QueueRow {
  readonly queue: string
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  /** Given up, and kept to be looked at. */
  readonly failed: number
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const

/** How the work stands at this moment: the jobs that wait, run or failed. */
export function queueSection(queue: readonly QueueRow[] | undefined): Html {
  if (queue === undefined)
    return html`<p><span class="tag bad">the queue does not answer</span> Nothing is evaluated until it does. No job is lost.</p>`
  const busy = queue.filter(one => STATES.some(state => one[state] > 0))
  if (busy.length === 0) return html`<p>The queue is empty: no job waits, runs or failed.</p>`
  const rows = busy.map(
    ({
      queue,
      waiting,
      active,
      delayed,
      failed,
    }) => html`<tr><th scope="row"><code>${queue}</code></th><td class="num">${waiting}</td><td class="num">${active}</td><td class="num">${delayed}</td><td class="num">${failed > 0 ? html`<span class="tag warn">${failed}</span>` : '0'}</td></tr>
`,
  )
  return html`<div class="scroll" role="region" aria-label="Jobs by state" tabindex="0"><table>
<caption>Of the whole installation, at the moment of this page</caption>
<thead><tr><th scope="col">Jobs</th><th scope="col" class="num">Waiting</th><th scope="col" class="num">Running</th><th scope="col" class="num">Delayed</th><th scope="col" class="num">Given up</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
}
