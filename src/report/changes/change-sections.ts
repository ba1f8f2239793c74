import { type Changes, type NodeChange, sumCounts } from '../../diff/changes.ts'
import { andMore } from '../../message/and-more.ts'
import { code, htmlCode } from '../../message/markdown.ts'
import type { Section } from '../text/fold.ts'
import { fold } from '../text/fold.ts'
import { count } from '../text/headline.ts'
import { clusterList } from './cluster-list.ts'
import { countsText } from './counts-text.ts'
import { type Detail, diffBlock } from './diff-block.ts'
import { groupTenants, type TenantGroup } from './group-changes.ts'

/** How much is told, from all of it to a line for each Kustomization. */
export const LEVELS = ['full', 'short', 'counts', 'lines'] as const
export type DetailLevel = (typeof LEVELS)[number]

/** What is said where not all is told. */
export const SHORTENED: Readonly<Record<DetailLevel, string>> = {
  full: 'nothing is omitted',
  short: 'fields of added objects, and most fields of other objects, are omitted',
  counts: 'fields are omitted, each object shows their number',
  lines: 'objects are omitted, each Kustomization shows their number',
}

/** The rendered diff: a fold for each tenant and the clusters on which it gets the same. */
export function changeSections(changes: Changes, level: DetailLevel): Section[] {
  const groups = groupTenants(changes)
  const sections = level === 'lines' ? groups.flatMap(linesOf) : groups.map(group => foldOf(group, level))
  const note = leftNote(changes)
  return note === '' ? sections : [...sections, { text: note, label: '' }]
}

function foldOf(group: TenantGroup, level: Detail): Section {
  const who = group.tenant === '' ? 'the platform' : htmlCode(group.tenant, 80)
  const same = group.clusters.length > 1 ? ' (the same)' : ''
  const clusters = group.clusters.slice(0, 10).map(name => htmlCode(name, 80))
  const left = group.clusters.length - clusters.length
  const on = `${clusters.join(', ')}${andMore(left)}`
  const counts = countsText(sumCounts(group.nodes.map(node => node.counts)))
  const summary = `${who} on ${on}${same}${counts === '' ? '' : `: ${counts}`}`
  const label = `diff of ${group.tenant === '' ? 'the platform' : 'a tenant'}`
  return { text: fold(summary, group.nodes.map(node => nodeText(node, level)).join('\n\n')), label }
}

function nodeText(node: NodeChange, level: Detail): string {
  const notes = notesOf(node)
  const head = `Kustomization ${code(`${node.namespace}/${node.name}`)}${notes.length > 0 ? `: ${notes.join('; ')}` : ''}`
  return node.objects.length === 0 ? head : `${head}\n\n${diffBlock(node.objects, level)}`
}

function notesOf({ change, unknown, suspended, identity, counts, objects }: NodeChange): string[] {
  const total = counts.added + counts.changed + counts.replaced + counts.moved + counts.removed
  const left = total - objects.length
  return [
    ...(change === 'changed' ? [] : [change]),
    ...(unknown ? [`changes unknown: it could not be rendered ${unknown} the change`] : []),
    ...(suspended ? ['suspended: Flux applies these changes only after it is resumed'] : []),
    ...(identity ? [`applied as ${code(identity.now)}, was ${code(identity.was)}`] : []),
    ...(left > 0 && objects.length > 0 ? [`${left} of ${count(total, 'object')} not listed`] : []),
    ...(left > 0 && objects.length === 0 ? [countsText(counts)] : []),
  ]
}

function linesOf({ tenant, clusters, nodes }: TenantGroup): Section[] {
  const who = tenant === '' ? 'the platform' : code(tenant, 80)
  return nodes.map(node => {
    const counts = countsText(node.counts) || node.change
    const text = `- ${who} on ${clusterList(clusters)}, Kustomization ${code(`${node.namespace}/${node.name}`)}: ${counts}`
    return { text, label: 'Kustomization' }
  })
}

function leftNote({ left, hidden }: Changes): string {
  const parts = [
    ...(left.nodes > 0 ? [count(left.nodes, 'Kustomization')] : []),
    ...(left.objects > 0 ? [count(left.objects, 'object')] : []),
    ...(left.fields > 0 ? [count(left.fields, 'field')] : []),
    ...(left.rights > 0 ? [`the rights of ${count(left.rights, 'account')}`] : []),
    ...(left.tenants > 0 ? [count(left.tenants, 'new or removed tenant')] : []),
    ...(left.clusters > 0 ? [count(left.clusters, 'new or removed cluster')] : []),
  ]
  const more = parts.length > 0 ? `Too much to list: ${parts.join(', ')} more.` : ''
  const others = hidden > 0 ? `${count(hidden, 'Kustomization')} elsewhere in the fleet change too.` : ''
  return [more, others].filter(text => text !== '').join(' ')
}
