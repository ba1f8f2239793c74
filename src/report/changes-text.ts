import { code, htmlCode } from '../base/markup.ts'
import { andMore, firstNames } from '../base/name-list.ts'
import { display } from '../kube/object.ts'
import { type Changes, type Fate, idBefore, isUnchanged, type NodeChange, sumCounts } from '../verdict/diff/changes.ts'
import {
  clusterList,
  countsText,
  type Detail,
  diffBlock,
  groupNodes,
  groupTenants,
  nodeNotes,
  rightLines,
  type TenantGroup,
} from './changes.ts'
import { count } from './text/findings.ts'
import { CUT_NOTE, fitBudget, fold, type Section, TEXT_BUDGET, VISIBLE_LINES } from './text/fit-budget.ts'

/**
 * What a change does, as Markdown by itself: the answer to `diff`. `cluster`: of that one only. At most 60,000 characters;
 * what is too long becomes shorter by rule, and says so. `page`: address of the page that has all of it.
 */
export function changesText(changes: Changes, options: { cluster?: string; page?: string } = {}): string {
  const { cluster, page } = options
  const shown = cluster === undefined ? changes : ofCluster(changes, cluster)
  const where = cluster === undefined ? '' : ` on ${code(cluster, 80)}`
  if (isUnchanged(shown)) return `No rendered changes${where}.`
  const counts = countsText(shown.totals)
  const head = `Rendered changes${where}${counts === '' ? '' : `: ${counts}`}`
  return fitLevels(head, level => [...changeLists(shown), ...changeSections(shown, level)], page)
}

function ofCluster(changes: Changes, cluster: string): Changes {
  const nodes = changes.nodes.filter(node => node.cluster === cluster)
  return {
    ...changes,
    nodes,
    rights: changes.rights.filter(right => right.cluster === cluster),
    // of a tenant with clusters that are not listed it may be one
    tenants: changes.tenants.filter(tenant => tenant.clusters.includes(cluster) || tenant.left.clusters > 0),
    clusters: changes.clusters.filter(({ name }) => name === cluster),
    totals: sumCounts(nodes.map(node => node.counts)),
    // what is not listed may be of any cluster
    hidden: 0,
  }
}

/** How much is shown, from all of it to a line for each Kustomization. */
const LEVELS = ['full', 'short', 'counts', 'lines'] as const
export type DetailLevel = (typeof LEVELS)[number]

/** The note where not all is shown. */
const SHORTENED: Readonly<Record<DetailLevel, string>> = {
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
  const on = firstNames(group.clusters, 10, name => htmlCode(name, 80))
  const counts = countsText(sumCounts(group.nodes.map(node => node.counts)))
  const summary = `${who} on ${on}${same}${counts === '' ? '' : `: ${counts}`}`
  const label = `diff of ${group.tenant === '' ? 'the platform' : 'a tenant'}`
  return { text: fold(summary, group.nodes.map(node => nodeText(node, level)).join('\n\n')), label }
}

function nodeText(node: NodeChange, level: Detail): string {
  const { counts, objects } = node
  const total = counts.added + counts.changed + counts.replaced + counts.moved + counts.removed
  const left = total - objects.length
  const notes = nodeNotes(node, name => code(name))
  if (left > 0) notes.push(objects.length > 0 ? `${left} of ${count(total, 'object')} not listed` : countsText(counts))
  const head = `Kustomization ${code(`${node.namespace}/${node.name}`)}${notes.length > 0 ? `: ${notes.join('; ')}` : ''}`
  return objects.length === 0 ? head : `${head}\n\n${diffBlock(objects, level)}`
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

const MAX_LINES = 60

/** What cannot be seen in a diff of files, each folded: what is deleted, who gains what, which images, which tenants. */
export function changeLists(changes: Changes): Section[] {
  const lists = [pruneList, leftList, rightList, newsList, imageList]
  return lists.map(list => list(changes)).filter(section => section !== undefined)
}

/** `total`: how many there are, where the lines show fewer. */
function section(heading: string, lines: readonly Line[], label: string, total?: number): Section | undefined {
  if (lines.length === 0) return undefined
  const shown = lines.slice(0, MAX_LINES)
  const weight = (some: readonly Line[]) => some.reduce((sum, line) => sum + line.weight, 0)
  const left = (total ?? weight(lines)) - weight(shown)
  const items = shown.map(({ text }) => `- ${text}`)
  if (left > 0) items.push(`- …${andMore(left)}`)
  return { text: fold(heading, items.join('\n')), label }
}

/** `weight`: how many things it shows. */
interface Line {
  readonly text: string
  readonly weight: number
}

const line = (text: string): Line => ({ text, weight: 1 })

function pruneList(changes: Changes): Section | undefined {
  const { deleted } = changes.totals
  const lines = goneLines(changes, ['deleted'])
  return section(`⚠️ ${count(deleted, 'object')} will be DELETED`, lines, 'list of what is deleted', deleted)
}

function leftList(changes: Changes): Section | undefined {
  const lines = goneLines(changes, ['orphaned', 'kept', 'suspended'])
  return section('No longer rendered, but not deleted', lines, 'list of what stays behind')
}

const WHY: Readonly<Record<Fate, string>> = {
  deleted: '',
  orphaned: ': stays on the cluster, no longer managed by Flux (<code>prune</code> is off)',
  kept: ': kept by its own annotation or label',
  suspended: ': nothing happens until the Kustomization is resumed',
  moved: '',
}
/** What goes with an object that is deleted. */
const WITHIN: Readonly<Record<string, string>> = {
  Namespace: ', with **everything in it**',
  CustomResourceDefinition: ', with **every object of its kind**',
  PersistentVolumeClaim: ', maybe with its data',
  Kustomization: ', with the objects that it applied, if it prunes',
}

/** Each object once, with every cluster that it goes from, whatever else differs there. */
function goneLines(changes: Changes, fates: readonly Fate[]): Line[] {
  const gone = changes.nodes.flatMap(({ cluster, objects }) =>
    objects.flatMap(object => (object.fate && fates.includes(object.fate) ? [{ cluster, object }] : [])),
  )
  const alike = Map.groupBy(gone, ({ object: { id, fate, from } }) => JSON.stringify([id, fate, from]))
  return [...alike.values()].map(all => {
    const { object } = all[0]!
    const { id, fate = 'kept', from } = object
    const clusters = [...new Set(all.map(({ cluster }) => cluster))]
    const within = fate === 'deleted' ? (WITHIN[id.kind] ?? '') : ''
    const anew = from === undefined ? '' : `, and created anew in namespace ${code(id.namespace, 80)}`
    const text = `${code(display(idBefore(object)))} on ${clusterList(clusters)}${within}${anew}${WHY[fate]}`
    return { text, weight: all.length }
  })
}

function rightList({ rights }: Changes): Section | undefined {
  return section('Permission changes', rightLines(rights).map(line), 'list of rights')
}

function newsList({ tenants, clusters, nodes, left }: Changes): Section | undefined {
  const lines = [
    ...clusters.map(({ name, change, fields = [] }) =>
      change === 'changed'
        ? `The cluster ${code(name, 80)} changes: ${fields.join(', ')}`
        : `The cluster ${code(name, 80)} is ${change}`,
    ),
    ...tenants.map(({ name, change, clusters: on, namespaces, left: besides }) => {
      const places = firstNames(namespaces, namespaces.length, one => code(one, 80), besides.namespaces)
      return `The tenant ${code(name, 80)} is ${change}, on ${clusterList(on, besides.clusters)}${places === '' ? '' : ` with ${places}`}`
    }),
    ...groupNodes({ nodes }).flatMap(({ node, clusters: on }) => {
      const name = code(`${node.namespace}/${node.name}`)
      return node.change === 'changed' ? [] : [`The Kustomization ${name} is ${node.change}, on ${clusterList(on)}`]
    }),
  ]
  const total = lines.length + left.tenants + left.clusters
  return section('Added and removed', lines.map(line), 'list of what is new and removed', total)
}

function imageList(changes: Changes): Section | undefined {
  const images = new Map<string, { text: string; on: Set<string> }>()
  for (const { cluster, images: found } of changes.nodes as readonly NodeChange[]) {
    for (const { was, now, objects } of found) {
      const text = `${code(was)} → ${code(now)} in ${firstNames(objects, 5, name => code(name))}`
      const image = images.get(text) ?? { text, on: new Set() }
      images.set(text, { ...image, on: image.on.add(cluster) })
    }
  }
  const lines = [...images.values()].map(({ text, on }) => `${text}, on ${clusterList([...on])}`)
  return section(`Images (${lines.length})`, lines.map(line), 'list of images')
}

/**
 * Joins a text that has parts of several lengths: the longest form that fits, and at the shortest as many of its parts as
 * fit. What was left out is counted, with the address of the page that has all of it. At most 60,000 characters.
 */
export function fitLevels(head: string, sectionsAt: (level: DetailLevel) => readonly Section[], page?: string): string {
  const more = page === undefined ? undefined : ` [The details page](${page}) has all details.`
  const sizeOf = (sections: readonly Section[]) => sections.reduce((sum, { text }) => sum + text.length + 2, 0)
  const full = new Set(sectionsAt('full'))
  const at = (level: DetailLevel): Section[] => {
    const sections = [...sectionsAt(level)]
    // those of every level are the very same, and not read for this
    const own = new Set(sections)
    if (sizeOf([...own].filter(one => !full.has(one))) === sizeOf([...full].filter(one => !own.has(one))))
      return sections
    return [{ text: `**Shortened:** ${SHORTENED[level]}.${more ?? ''}`, label: '' }, ...sections]
  }
  const fits = (sections: readonly Section[]) => {
    let left = TEXT_BUDGET - CUT_NOTE - head.length
    return sections.every(({ text }) => {
      left -= text.length + 2
      return left >= 0
    })
  }
  const sections = LEVELS.map(at).find(fits) ?? at('lines')
  return fitBudget(head, sections, { more, lines: VISIBLE_LINES })
}
