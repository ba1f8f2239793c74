import { RECIPIENTS_MARKER, RECIPIENTS_TITLE, recipientsText } from '../../src/credentials/recipients-text.ts'
import { upsertIssue } from '../../src/github/issues/upsert-issue.ts'
import type { ReportRecipients } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { openPlace } from '../publish/open-place.ts'
import { readCredentials } from '../rotation/read-credentials.ts'

/**
 * Maintains a fleet's issue about encrypted files with other recipients than `.sops.yaml` names: opens it if there are such
 * files, and closes it if there are none. Idempotent.
 */
export async function reportRecipients(context: WorkerContext, data: ReportRecipients): Promise<void> {
  const subject = await openRepository(context, data)
  if (!subject) return
  const { installation, repository: fleet } = subject
  const { fleets } = await installation.designation()
  if (!fleets.some(({ repository }) => repository.id === fleet.id)) return
  await context.queue.withLock(`recipients ${fleet.id}`, async () => {
    const { report } = await readCredentials({ context, installation, fleet })
    const issue = recipientsText(report)
    if (!issue) return
    const { octokit, app } = await openPlace(context, data, fleet.id)
    const wanted = { marker: RECIPIENTS_MARKER, title: RECIPIENTS_TITLE, ...issue }
    const said = await upsertIssue(octokit, app, { owner: fleet.owner, repo: fleet.name }, wanted)
    if (!said && issue.state === 'open') {
      context.log.warn({ ...data }, 'issues are disabled in the fleet repository: other recipients are not shown')
    }
  })
}
