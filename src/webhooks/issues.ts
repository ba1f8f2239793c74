import type { EventJobs, Payload } from './event-jobs.ts'

/** What the issue form for a new tenant puts on its issues, where the repository has that label. */
const LABEL = 'tenant-request'
/** How the body begins that the form makes: the heading of its first field. */
const FORM = /^\s*### Tenant\b/

/**
 * An issue that asks for a new tenant: opened with the form, mended, or labelled so later. Not pull requests, not bots.
 * What it says is read again by the worker.
 */
export const issues: EventJobs<'issues'> = {
  event: 'issues',
  jobs: (payload, place) => {
    if (payload.sender.type !== 'User' || !asksForTenant(payload)) return []
    return [{ name: 'tenant-request', data: { ...place, issue: payload.issue.number } }]
  },
}

function asksForTenant(payload: Payload<'issues'>): boolean {
  if (payload.action === 'labeled') return isLabel(payload.label?.name)
  if (!['opened', 'edited', 'reopened'].includes(payload.action)) return false
  const { body, labels } = payload.issue
  return FORM.test(body ?? '') || (labels?.some(label => isLabel(label?.name)) ?? false)
}

function isLabel(name: string | undefined): boolean {
  return name?.toLowerCase() === LABEL
}
