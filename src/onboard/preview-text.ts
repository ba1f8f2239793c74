import { codeSpan } from './code-span.ts'
import { onboardLine } from './parse-command.ts'
import type { OnboardPlan } from './plan.ts'
import { planParts } from './pull-request-text.ts'
import type { OnboardRequest } from './request.ts'

/** Marks our answer to a request for a tenant. Anybody can write it: match the author too. */
export const PREVIEW_MARKER = '<!-- bailiwick:tenant-request -->'

/** What comes after a request for a tenant. */
interface PreviewNext {
  /** Login of who asks. */
  readonly by: string
  /** The pull request that is open for it. */
  readonly pull?: number
  /** Why none was opened; for people. */
  readonly why?: string
}

/** The answer to an issue that asks for a tenant: what it would get, the files, and what happens next. Markdown. */
export function previewText(
  request: OnboardRequest,
  plan: OnboardPlan,
  team: string | undefined,
  { by, pull, why }: PreviewNext,
): string {
  // names and addresses of a request were checked: nothing in them ends the block
  const line = `\`\`\`\n${onboardLine(request)}\n\`\`\``
  const next =
    pull === undefined
      ? `**Next:** a fleet admin who also administers the repository comments here:\n\n${line}`
      : `**Next:** #${pull} adds it. Merging is the approval. To change it, comment here:\n\n${line}`
  return [
    `${codeSpan(by)} requests the tenant ${codeSpan(request.tenant)}${team === undefined ? '' : `, for the team ${codeSpan(team)}`}.`,
    ...planParts(plan),
    ...(why === undefined ? [] : [why]),
    next,
  ].join('\n\n')
}
