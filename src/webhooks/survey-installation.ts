import type { AskedJob, InstallationPlace } from './event-jobs.ts'

/** A click that changes a dozen things makes as many events: one look serves them all. */
const SETTLE_MS = 5_000

/** Has one installation looked at as a whole: what is open there, and whether its gate is real. */
export function surveyInstallation(place: InstallationPlace): readonly AskedJob[] {
  const { installation } = place
  return [
    { name: 'sweep-installation', data: { installation } },
    { name: 'survey', data: { installation }, delayMs: SETTLE_MS },
  ]
}
