import { code } from '../message/markdown.ts'
import { credentialEntries } from './credential-entries.ts'
import { type CredentialReport, NOT_COMPARED } from './credential-report.ts'
import { credentialsText } from './credentials-text.ts'

/** First line of the issue about encrypted files with other recipients. */
export const RECIPIENTS_MARKER = '<!-- bailiwick:recipients -->'

export const RECIPIENTS_TITLE = 'Bailiwick: encrypted files have other recipients than .sops.yaml names'

/** Body and state of the issue. */
interface RecipientsIssue {
  readonly state: 'open' | 'closed'
  readonly body: string
}

/** The issue about encrypted files with other recipients. Undefined if the only possible differences are in files that could not be compared. */
export function recipientsText(report: CredentialReport): RecipientsIssue | undefined {
  const entries = credentialEntries(report, undefined, '').filter(({ kind }) => kind === 'other-recipients')
  const notCompared = report.notVisible.filter(what => what.startsWith(NOT_COMPARED))
  if (entries.length === 0) {
    if (notCompared.length > 0) return undefined
    const done = 'Every encrypted file has the recipients that `.sops.yaml` names.'
    return { state: 'closed', body: `${RECIPIENTS_MARKER}\n\n${done}` }
  }
  const parts = [
    'A change to `.sops.yaml` does not change files that are already encrypted. These files have recipients that differ from those in `.sops.yaml`. Bailiwick updates this issue with each push that changes encrypted files or `.sops.yaml`, and closes it when no such file is left.',
    credentialsText(entries),
    ...notCompared.map(what => `Not compared: ${code(what)}`),
  ]
  return { state: 'open', body: [RECIPIENTS_MARKER, ...parts].join('\n\n') }
}
