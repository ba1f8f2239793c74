import { type Changes, type Fate, idBefore, type NodeChange, sumCounts } from '../../diff/changes.ts'
import { display } from '../../kube/object.ts'
import { andMore } from '../../message/and-more.ts'
import { code } from '../../message/markdown.ts'
import type { Section } from '../text/fold.ts'
import { fold } from '../text/fold.ts'
import { count } from '../text/headline.ts'
import { clusterList } from './cluster-list.ts'
import { groupNodes } from './group-changes.ts'
import { rightLines } from './right-text.ts'

const MAX_LINES = 60

/** What cannot be seen in a diff of files, each folded: what is deleted, who gains what, which images, which tenants. */
export function changeLists(changes: Changes): Section[] {
  const lists = [pruneList, leftList, rightList, newsList, imageList]
  return lists.map(list => list(changes)).filter(section => section !== undefined)
}

/** `total`: of what the lines tell, where that is more than they. */
function section(heading: string, lines: readonly Line[], label: string, total?: number): Section | undefined {
  if (lines.length === 0) return undefined
  const shown = lines.slice(0, MAX_LINES)
  const weight = (some: readonly Line[]) => some.reduce((sum, line) => sum + line.weight, 0)
  const left = (total ?? weight(lines)) - weight(shown)
  const items = shown.map(({ text }) => `- ${text}`)
  if (left > 0) items.push(`- …${andMore(left)}`)
  return { text: fold(heading, items.join('\n')), label }
}

/** `weight`: how many things it tells. */
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
      const more = andMore(besides.namespaces)
      const places = `${namespaces.map(one => code(one, 80)).join(', ')}${more}`
      return `The tenant ${code(name, 80)} is ${change}, on ${clusterList(on, besides.clusters)}${places === '' ? '' : ` with ${places}`}`
    }),
    ...groupNodes({ ...NOTHING, nodes }).flatMap(({ node, clusters: on }) => {
      const name = code(`${node.namespace}/${node.name}`)
      return node.change === 'changed' ? [] : [`The Kustomization ${name} is ${node.change}, on ${clusterList(on)}`]
    }),
  ]
  const total = lines.length + left.tenants + left.clusters
  return section('Added and removed', lines.map(line), 'list of what is new and removed', total)
}

const NOTHING: Pick<Changes, Exclude<keyof Changes, 'nodes'>> = {
  rights: [],
  tenants: [],
  clusters: [],
  totals: sumCounts([]),
  hidden: 0,
  left: { nodes: 0, objects: 0, fields: 0, rights: 0, tenants: 0, clusters: 0 },
}

function imageList(changes: Changes): Section | undefined {
  const images = new Map<string, { text: string; on: Set<string> }>()
  for (const { cluster, images: found } of changes.nodes as readonly NodeChange[]) {
    for (const { was, now, objects } of found) {
      const shown = objects.slice(0, 5).map(name => code(name))
      const left = objects.length - shown.length
      const where = `${shown.join(', ')}${andMore(left)}`
      const text = `${code(was)} → ${code(now)} in ${where}`
      const image = images.get(text) ?? { text, on: new Set() }
      images.set(text, { ...image, on: image.on.add(cluster) })
    }
  }
  const lines = [...images.values()].map(({ text, on }) => `${text}, on ${clusterList([...on])}`)
  return section(`Images (${lines.length})`, lines.map(line), 'list of images')
}
