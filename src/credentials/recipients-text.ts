import { code } from '../message/markdown.ts'
import { credentialEntries } from './credential-entries.ts'
import { type CredentialReport, NOT_COMPARED } from './credential-report.ts'
import { credentialsText } from './credentials-text.ts'

/** First line of the issue about encrypted files with other recipients. */
export const RECIPIENTS_MARKER = '<!-- bailiwick:recipients -->'

export const RECIPIENTS_TITLE = 'Bailiwick: encrypted files have other recipients than .sops.yaml names'

/** What the issue says, and whether it is open. */
interface RecipientsIssue {
  readonly state: 'open' | 'closed'
  readonly body: string
}

/** The issue about encrypted files with other recipients. Undefined if files that were not compared may have others. */
export function recipientsText(report: CredentialReport): RecipientsIssue | undefined {
  const entries = credentialEntries(report, undefined, '').filter(({ kind }) => kind === 'other-recipients')
  const notCompared = report.notVisible.filter(what => what.startsWith(NOT_COMPARED))
  if (entries.length === 0) {
    if (notCompared.length > 0) return undefined
    const done = 'Every encrypted file has the recipients that `.sops.yaml` names.'
    return { state: 'closed', body: `${RECIPIENTS_MARKER}\n\n${done}` }
  }
  const parts = [
    'A change of `.sops.yaml` does not change files that are already encrypted. These files have other recipients than it names. Bailiwick updates this issue with each push that changes encrypted files or `.sops.yaml`, and closes it when none is left.',
    credentialsText(entries),
    ...notCompared.map(what => `Not compared: ${code(what)}`),
  ]
  return { state: 'open', body: [RECIPIENTS_MARKER, ...parts].join('\n\n') }
}
