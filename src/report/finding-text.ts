import { display } from '../kube/object.ts'
import { clusterAnswer } from './cluster-answer.ts'
import { type FailureGroup, firstOf, noteOf } from './group-failures.ts'
import type { FindingGroup } from './group-findings.ts'
import { isNew } from './headline.ts'
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

/** What could not be evaluated, the same way: one error for all nodes that have it. */
export function failureText({ failure, nodes }: FailureGroup, here: string): string {
  const place = placeOf(failure.origin, here)
  const { shown, left } = firstOf(nodes)
  const whose = shown.length > 0 ? shown.map(key => code(key)).join(', ') : 'The fleet'
  const note = noteOf(failure)
  return [
    `**${whose}**${left > 0 ? ` and ${left} more` : ''} (${code(failure.code)}, ${isNew(failure) ? 'new' : 'existing'})`,
    `- What: ${prose(failure.message)}`,
    ...(note === '' ? [] : [`- Note: ${note}`]),
    ...(place ? [`- Where: ${code(place)}`] : []),
    ...(failure.fix ? [`- Fix: ${prose(failure.fix)}`] : []),
  ].join('\n')
}
