import { groupFindings } from '../evaluate/verdict/group-findings.ts'
import { waivedUntil } from '../evaluate/verdict/waivers.ts'
import type { HumanDecisions } from '../gate/circumstances.ts'
import { display } from '../kube/object.ts'
import { andMore } from '../message/and-more.ts'
import { code, prose } from '../message/markdown.ts'
import { matrixTable } from '../report/matrix.ts'
import { fitBudget } from '../report/text/fit-budget.ts'
import type { Section } from '../report/text/fold.ts'
import { fold } from '../report/text/fold.ts'
import type { Finding, Verdict } from '../rules/model/finding.ts'
import { shortFingerprint } from './find-findings.ts'

/** How things stand with a pull request. */
interface Status {
  readonly head: string
  readonly base: string
  /** Our check run on the head; absent where there is none yet. */
  readonly run?: { readonly status: string; readonly conclusion: string | null; readonly title: string }
  /** What would be said of it now, in one line. */
  readonly title: string
  /** As its readers may see it; absent where there is none. */
  readonly verdict?: Verdict
  readonly circumstances: HumanDecisions
}

/** Formats the status of a pull request as Markdown: verdict, clusters, checks, and what people decided. */
export function statusText(status: Status): string {
  const { verdict, circumstances } = status
  const head = [
    `**${prose(status.title)}**`,
    [
      `- Head: ${code(status.head.slice(0, 12))}, onto ${code(status.base)}`,
      `- Check: ${checkLine(status)}`,
      ...decided(circumstances),
    ].join('\n'),
    ...(verdict ? [matrixTable(verdict)] : []),
  ]
  return fitBudget(head.filter(part => part !== '').join('\n\n'), verdict ? lists(verdict) : [])
}

function checkLine({ run }: Status): string {
  if (!run) return 'not posted yet; queued'
  if (run.status === 'queued') return 'queued'
  if (run.status !== 'completed') return 'in progress'
  return `${code(run.conclusion ?? '')}, ${prose(run.title)}`
}

function decided({ hold, override, demands }: HumanDecisions): string[] {
  return [
    ...(hold ? [`- On hold by ${code(hold.by, 60)}`] : []),
    ...(override ? [`- Overridden by ${code(override.by, 60)}: ${prose(override.reason)}`] : []),
    ...demands.map(({ message }) => `- Required approval: ${prose(message)}`),
  ]
}

function lists({ violations, warnings }: Verdict): Section[] {
  const of = (findings: readonly Finding[], state: Finding['state']) => findings.filter(one => one.state === state)
  return [
    ...list('New', of(violations, 'new'), false),
    ...list('Waived', of(violations, 'waived'), true),
    ...list('Existing', of(violations, 'standing'), true),
    ...list('Warnings', of(warnings, 'new'), true),
  ]
}

function list(heading: string, findings: readonly Finding[], folded: boolean): Section[] {
  if (findings.length === 0) return []
  const lines = groupFindings(findings).map(({ finding, objects, clusters }) => {
    const more = andMore(objects.length - 1)
    const where = clusters.slice(0, 5).map(name => code(name, 80))
    return `- ${code(shortFingerprint(finding.fingerprint))} ${code(finding.rule)}: ${code(display(finding.object))}${more} on ${where.join(', ')}${waiverText(finding)}`
  })
  const shown = lines.slice(0, 100)
  const left = lines.length - shown.length
  const body = [...shown, ...(left > 0 ? [`- …${andMore(left)}`] : [])].join('\n')
  const title = `${heading} (${lines.length})`
  return [{ text: folded ? fold(title, body) : `**${title}**\n\n${body}`, label: `list of ${heading.toLowerCase()}` }]
}

const waiverText = ({ waiver }: Finding): string => (waiver ? `. ${prose(waivedUntil(waiver))}` : '')
