import { andMore } from '../../message/and-more.ts'
import { code, prose } from '../../message/markdown.ts'
import type { Finding, NodeFailure } from '../../rules/model/finding.ts'
import type { Section } from '../text/fold.ts'
import { placeOf } from '../text/place.ts'
import type { FirstReportFacts } from './facts.ts'
import { table } from './shown-list.ts'

const MAX_RULES = 60

/** Lists the existing violations by rule, the most severe ones, and the evaluation errors. */
export function legacySections({ survey, url }: FirstReportFacts): Section[] {
  const { legacy, worst, errors, errorCount } = survey
  const sections: Section[] = []
  if (legacy.length > 0) {
    const rows = legacy.map(({ rule, count }) => [code(rule, 80), String(count)])
    sections.push({
      text: `### Existing violations\n\n${table(['rule', 'violations'], rows, MAX_RULES)}`,
      label: 'table of existing violations',
    })
    sections.push({
      text: ['Most severe:', '', ...worst.map(one => findingText(one, url))].join('\n'),
      label: 'list of the most severe violations',
    })
  }
  if (errors.length > 0) {
    const left = errorCount - errors.length
    const lines = [...errors.map(one => errorText(one, url)), ...(left > 0 ? [`- …${andMore(left)}`] : [])]
    const lead =
      'The worker does not apply a Kustomization with an evaluation error. A change of it is blocked until the error is fixed.'
    sections.push({
      text: `### Evaluation errors\n\n${lead}\n\n${lines.join('\n')}`,
      label: 'list of evaluation errors',
    })
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
