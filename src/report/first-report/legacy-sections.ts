import type { Finding, NodeFailure } from '../../rules/finding.ts'
import type { Section } from '../fit-budget.ts'
import { code, prose } from '../markdown.ts'
import { placeOf } from '../place.ts'
import type { FirstReportFacts } from './facts.ts'
import { table } from './shown-list.ts'

const MAX_RULES = 60

/** What stands already: by rule, the worst of it, and what could not be decided. */
export function legacySections({ survey, url }: FirstReportFacts): Section[] {
  const { legacy, worst, errors, errorCount } = survey
  const sections: Section[] = []
  if (legacy.length > 0) {
    const rows = legacy.map(({ rule, count }) => [code(rule, 80), String(count)])
    sections.push({
      text: `### What stands already\n\n${table(['rule', 'violations'], rows, MAX_RULES)}`,
      label: 'table of standing violations',
    })
    sections.push({
      text: ['The heaviest of them:', '', ...worst.map(one => findingText(one, url))].join('\n'),
      label: 'list of the heaviest violations',
    })
  }
  if (errors.length > 0) {
    const left = errorCount - errors.length
    const lines = [...errors.map(one => errorText(one, url)), ...(left > 0 ? [`- … and ${left} more`] : [])]
    const lead = 'A node that cannot be decided is not applied by the worker, and a change of it fails until it can be.'
    sections.push({ text: `### Not decided\n\n${lead}\n\n${lines.join('\n')}`, label: 'list of what is not decided' })
  }
  return sections
}

function findingText({ rule, severity, cluster, tenant, message, origin }: Finding, here: string): string {
  const whose = tenant === '' ? 'the platform' : code(tenant, 80)
  const where = placeOf(origin, here)
  return `- ${severity} ${code(rule, 80)} (${whose} on ${code(cluster, 80)}): ${prose(message, 500)}${where ? ` ${code(where)}` : ''}`
}

function errorText({ code: id, node, message, origin }: NodeFailure, here: string): string {
  const where = placeOf(origin, here)
  return `- ${code(id, 80)} ${code(node, 120)}: ${prose(message, 400)}${where ? ` ${code(where)}` : ''}`
}
