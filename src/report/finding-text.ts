import { display } from '../kube/object.ts'
import type { NodeFailure } from '../rules/finding.ts'
import { clusterAnswer } from './cluster-answer.ts'
import type { FindingGroup } from './group-findings.ts'
import { code, prose } from './markdown.ts'
import { placeOf } from './place.ts'

/** One finding as a Markdown list: what, where, who, what the cluster would have said, how to fix. Escaped. */
export function findingText({ finding, clusters }: FindingGroup, here: string): string {
  const answer = clusterAnswer(finding)
  const via = finding.via.map(step => `${step.step} ${code(`${step.file}:${step.line}`)}`).slice(0, 8)
  const lines = [
    `**${code(display(finding.object))}** on ${clusters.map(name => code(name, 80)).join(', ')}`,
    `- What: ${prose(finding.message)}`,
    `- Where: ${code(placeOf(finding.origin, here) || 'no file')}, field ${code(finding.field || '/')}${via.length > 0 ? `, through ${via.join(', ')}` : ''}`,
    `- Who: ${code(finding.identity)}${finding.tenant === '' ? ' (the platform)' : ` (tenant ${code(finding.tenant, 80)})`}`,
  ]
  if (answer)
    lines.push(`- The cluster would have said: ${answer.verbatim ? code(answer.text, 600) : prose(answer.text)}`)
  lines.push(`- Fix: ${prose(finding.fix)}`)
  return lines.join('\n')
}

/** One node that could not be decided, the same way. */
export function failureText(failure: NodeFailure, here: string): string {
  const place = placeOf(failure.origin, here)
  return [
    `**${code(failure.node)}** (${code(failure.code)}, ${failure.state})`,
    `- What: ${prose(failure.message)}`,
    ...(place ? [`- Where: ${code(place)}`] : []),
    ...(failure.fix ? [`- Fix: ${prose(failure.fix)}`] : []),
  ].join('\n')
}
