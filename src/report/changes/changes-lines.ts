import { type Changes, isUnchanged, type NodeChange, type ObjectChange } from '../../diff/changes.ts'
import { display } from '../../kube/object.ts'
import { andMore } from '../../message/and-more.ts'
import { visible } from '../../message/visible.ts'
import { count } from '../text/headline.ts'
import { countsText } from './counts-text.ts'
import { fieldLines, whatHappens } from './diff-block.ts'
import { groupNodes, type NodeGroup } from './group-changes.ts'
import { rightLines } from './right-text.ts'

/** So many lines are listed where not all is asked for. */
const FEW_LINES = 20
const FEW_FIELDS = 4
const FEW_CLUSTERS = 10

/** What is listed: a line for what changes, and lines for what changes in it. */
interface Entry {
  readonly head: string
  readonly parts: readonly string[]
}

/**
 * What a change does to what the clusters get, as lines for a terminal: every cluster, tenant and Kustomization is named or
 * counted, then as many objects and rights as there is room for. `all`: every object with its fields.
 */
export function changesLines(changes: Changes, all = false): string[] {
  const outside = changes.hidden > 0 ? `${count(changes.hidden, 'Kustomization')} outside of the filter` : ''
  if (isUnchanged(changes)) return [`changes: ${outside || 'no rendered changes'}`]
  const { left } = changes
  const entries = entriesOf(changes, all)
  const lines = listed(entries, all ? Number.POSITIVE_INFINITY : FEW_LINES)
  const unlisted = entries.reduce((sum, { parts }) => sum + 1 + parts.length, 0) - lines.length
  const beyond = (Object.entries(left) as [string, number][]).filter(([, number]) => number > 0)
  const counts = countsText(changes.totals)
  return [
    `changes: ${count(changes.nodes.length + left.nodes, 'Kustomization')}${counts === '' ? '' : `; objects: ${counts}`}`,
    ...lines,
    ...(unlisted > 0 ? [`  … and ${count(unlisted, 'line')} more (--verbose lists them)`] : []),
    ...(beyond.length > 0 ? [`  beyond what is listed: ${beyond.map(([what, n]) => `${n} ${what}`).join(', ')}`] : []),
    ...(outside === '' ? [] : [`  ${outside}`]),
  ]
}

function entriesOf(changes: Changes, all: boolean): Entry[] {
  const rights = rightLines(changes.rights).map(line => `    ${visible(line, 1000)}`)
  return [
    ...changes.clusters.map(({ name, change, fields = [] }) => {
      const what = fields.length > 0 ? `: ${fields.join(', ')}` : ''
      return { head: `  ${markOf(change)} cluster ${visible(name)}${what}`, parts: [] }
    }),
    ...changes.tenants.map(({ name, change, clusters, left }) => {
      const head = `  ${markOf(change)} tenant ${visible(name)} on ${namesText(clusters, left.clusters)}`
      return { head, parts: [] }
    }),
    ...(rights.length > 0 ? [{ head: '  ~ permission changes:', parts: rights }] : []),
    ...groupNodes(changes).map(group => ({
      head: groupLine(group),
      parts: group.node.objects.flatMap(object => (all ? wholeObject(object) : [objectLine(object)])),
    })),
  ]
}

/** All heads come before the parts of any. */
function listed(entries: readonly Entry[], most: number): string[] {
  const shown = entries.slice(0, most)
  let room = most - shown.length
  return shown.flatMap(({ head, parts }) => {
    const some = parts.slice(0, room)
    room -= some.length
    return [head, ...some]
  })
}

function groupLine({ node, clusters }: NodeGroup): string {
  const { change, namespace, name, tenant, unknown, suspended, prune, identity, counts } = node
  const notes = [
    ...(change === 'changed' ? [] : [change]),
    ...(unknown ? [`changes unknown: it could not be rendered ${unknown} the change`] : []),
    ...(suspended ? ['suspended: Flux applies these changes only after it is resumed'] : []),
    ...(prune ? [] : ['prune is off']),
    ...(identity ? [`applied as ${visible(identity.now)}, was ${visible(identity.was)}`] : []),
    countsText(counts),
  ].filter(note => note !== '')
  const who = tenant === '' ? '' : ` (tenant ${visible(tenant)})`
  const head = `  ${markOf(change)} Kustomization ${visible(`${namespace}/${name}`)} on ${namesText(clusters)}${who}`
  return notes.length > 0 ? `${head}: ${notes.join('; ')}` : head
}

function objectLine(object: ObjectChange): string {
  if (object.change === 'added' || object.fieldCount === 0) return headOf(object)
  const paths = object.fields.slice(0, FEW_FIELDS).map(({ path }) => path)
  const left = object.fieldCount - paths.length
  const more =
    left > 0 ? [`${paths.length > 0 ? 'and ' : ''}${count(left, 'field')}${paths.length > 0 ? ' more' : ''}`] : []
  return `${headOf(object)}: ${visible([...paths, ...more].join(', '), 600)}`
}

function wholeObject(object: ObjectChange): string[] {
  const left = object.fieldCount - object.fields.length
  return [
    headOf(object),
    ...object.fields.flatMap(field => fieldLines(field, 'full')).map(line => `      ${visible(line, 600)}`),
    ...(left > 0 ? [`      … and ${count(left, 'field')} more`] : []),
  ]
}

function headOf(object: ObjectChange): string {
  const what = object.change === 'added' || object.change === 'changed' ? '' : `: ${whatHappens(object)}`
  return `    ${markOf(object.change)} ${visible(display(object.id))}${what}`
}

function markOf(change: NodeChange['change'] | ObjectChange['change']): string {
  if (change === 'added') return '+'
  return change === 'removed' ? '-' : '~'
}

function namesText(names: readonly string[], besides = 0): string {
  const shown = names.slice(0, FEW_CLUSTERS).map(name => visible(name))
  const left = names.length - shown.length + besides
  return `${shown.join(', ')}${andMore(left)}`
}
