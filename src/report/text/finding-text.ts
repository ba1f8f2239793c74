import type { FindingGroup } from '../../evaluate/verdict/group-findings.ts'
import { display } from '../../kube/object.ts'
import { andMore } from '../../message/and-more.ts'
import { code, prose } from '../../message/markdown.ts'
import { markdownOf } from '../../message/markdown-of.ts'
import { fixOf, typedMessage } from '../../message/said.ts'
import { fixMessage } from './fix-text.ts'
import { fold } from './fold.ts'
import { type FailureGroup, firstOf, noteOf } from './group-failures.ts'
import { count, isNew } from './headline.ts'
import { placeOf } from './place.ts'

/** How many objects of one finding are listed. */
const MAX_OBJECTS = 20
const MAX_NAMED = 5

/**
 * One finding as a Markdown list: the objects that its cause reaches, what, where, who, what the cluster would answer, how
 * to fix; and below it what follows from it. Escaped. `trace`: with the way of the value to the cluster, folded.
 */
export function findingText(group: FindingGroup, here: string, trace = true): string {
  const { finding, objects, clusters, tenants, identities, followers } = group
  const answer = objects.length === 1 ? finding.clusterAnswer : undefined
  const via = finding.via.map(step => `${step.step} ${code(`${step.file}:${step.line}`)}`).slice(0, 8)
  const lines = [
    `**${titleOf(group)}** on ${names(clusters)}`,
    `- What: ${markdownOf(typedMessage(finding))}`,
    ...(objects.length > 1 ? [`- Objects: ${objectList(group)}`] : []),
    `- Where: ${code(placeOf(finding.origin, here) || 'no file')}, field ${code(finding.field || '/')}`,
    `- Applied by: ${names(identities)} (${tenants.map(tenantText).slice(0, MAX_NAMED).join(', ')})`,
    ...(answer ? [`- Cluster response: ${prose(answer)}`] : []),
    `- Fix: ${markdownOf(fixMessage(group, here))}`,
    ...followers.map(follower => `- Follows from this: ${followerText(follower)}`),
  ]
  const way = trace && via.length > 0 ? [fold('Trace', via.join(', '))] : []
  return [lines.join('\n'), ...way].join('\n\n')
}

/** The object, or how many there are. */
function titleOf({ finding, objects }: FindingGroup): string {
  return objects.length === 1 ? code(display(finding.object)) : count(objects.length, 'object')
}

/** One line for a finding that follows from another one. */
function followerText(group: FindingGroup): string {
  return `${code(group.finding.rule)} for ${group.objects.length === 1 ? '' : `${count(group.objects.length, 'object')}: `}${objectList(group)}`
}

/** Objects, each with its clusters where it is not on all of those of the finding. */
function objectList({ objects, clusters }: FindingGroup): string {
  const shown = objects.slice(0, MAX_OBJECTS).map(one => {
    const where = one.clusters.length < clusters.length ? ` (${names(one.clusters)})` : ''
    return `${code(display(one.object))}${where}`
  })
  const left = objects.length - shown.length
  return `${shown.join(', ')}${andMore(left)}`
}

function names(list: readonly string[]): string {
  const { shown, left } = firstOf(list, MAX_NAMED)
  return `${shown.map(name => code(name, 120)).join(', ')}${andMore(left)}`
}

const tenantText = (tenant: string) => (tenant === '' ? 'the platform' : `tenant ${code(tenant, 80)}`)
/** What could not be evaluated, the same way: one error for all nodes that have it. */
export function failureText({ failure, nodes }: FailureGroup, here: string): string {
  const place = placeOf(failure.origin, here)
  const { shown, left } = firstOf(nodes)
  const whose = shown.length > 0 ? shown.map(key => code(key)).join(', ') : 'The fleet'
  const note = noteOf(failure)
  return [
    `**${whose}**${andMore(left)} (${code(failure.code)}, ${isNew(failure) ? 'new' : 'existing'})`,
    `- What: ${markdownOf(typedMessage(failure))}`,
    ...(note === '' ? [] : [`- Note: ${note}`]),
    ...(place ? [`- Where: ${code(place)}`] : []),
    ...(failure.fix ? [`- Fix: ${markdownOf(fixOf(failure))}`] : []),
  ].join('\n')
}
