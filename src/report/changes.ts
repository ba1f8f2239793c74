import { code, fenced } from '../base/markup.ts'
import { andMore, firstNames } from '../base/name-list.ts'
import { visible } from '../base/visible.ts'
import { display } from '../kube/object.ts'
import {
  type Changes,
  type Counts,
  type Fate,
  type FieldChange,
  isUnchanged,
  type NodeChange,
  type ObjectChange,
  type Right,
  type RightChange,
} from '../verdict/diff/changes.ts'
import { count } from './text/findings.ts'

/** The same change of a Kustomization on one or more clusters: listed once. */
interface NodeGroup {
  readonly node: NodeChange
  readonly clusters: readonly string[]
}

/** What a tenant ('': the platform) gets on clusters that all get the same. */
export interface TenantGroup {
  readonly tenant: string
  readonly clusters: readonly string[]
  readonly nodes: readonly NodeChange[]
}

/** Puts equal changes of several clusters together, in the order in which they come. */
export function groupNodes({ nodes }: Pick<Changes, 'nodes'>): NodeGroup[] {
  const groups = new Map<string, { node: NodeChange; clusters: string[] }>()
  for (const node of nodes) {
    const key = JSON.stringify({ ...node, node: '', cluster: '', objects: node.objects.map(withoutCluster) })
    const group = groups.get(key)
    if (group) group.clusters.push(node.cluster)
    else groups.set(key, { node, clusters: [node.cluster] })
  }
  return [...groups.values()]
}

/** The groups of nodes by tenant and clusters: the platform first, then by name. */
export function groupTenants(changes: Changes): TenantGroup[] {
  const groups = Map.groupBy(groupNodes(changes), ({ node, clusters }) => JSON.stringify([node.tenant, clusters]))
  return [...groups.values()]
    .map(all => ({
      tenant: all[0]!.node.tenant,
      clusters: all[0]!.clusters,
      nodes: all.map(({ node }) => node),
    }))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

const orderOf = ({ tenant, clusters }: TenantGroup): string => [tenant, ...clusters].join('\0')

/** Another Kustomization is named by its key, which begins with the cluster. */
function withoutCluster(object: NodeChange['objects'][number]): unknown {
  return object.node === undefined ? object : { ...object, node: object.node.split('/').slice(1).join('/') }
}

/** `1 added, 2 changed, 3 removed (3 DELETED)`, `4 moved, 1 of them DELETED`; '' for nothing. Plain text and Markdown alike. */
export function countsText({ added, changed, replaced, moved, removed, deleted }: Counts): string {
  const parts = [
    ...(added > 0 ? [`${added} added`] : []),
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(replaced > 0 ? [`${replaced} replaced`] : []),
    ...(moved > 0 ? [`${moved} moved`] : []),
    ...(removed > 0 ? [`${removed} removed${deleted > 0 && moved === 0 ? ` (${deleted} DELETED)` : ''}`] : []),
    ...(moved > 0 && deleted > 0 ? [`${deleted} of them DELETED`] : []),
  ]
  return parts.join(', ')
}

/** How much of a diff is shown: all of it, without context, or only how much there is of each object. */
export type Detail = 'full' | 'short' | 'counts'

const MAX_FIELDS: Readonly<Record<Detail, number>> = { full: 60, short: 12, counts: 0 }
/** What is added as a whole is context: the change has it as its author wrote it. */
const MAX_ADDED: Readonly<Record<Detail, number>> = { full: 15, short: 0, counts: 0 }
const MAX_LINES: Readonly<Record<Detail, number>> = { full: 41, short: 6, counts: 0 }

const FATES: Readonly<Record<Fate, string>> = {
  deleted: 'will be DELETED',
  orphaned: 'stays on the cluster, no longer managed by Flux',
  kept: 'no longer rendered; kept by its own annotation',
  suspended: 'no longer rendered; kept while its Kustomization is suspended',
  moved: 'moves',
}

/**
 * Objects as a fenced block of GitHub's `diff`, each below a line that names it. Nothing in it can end the fence, and
 * GitHub reads no mention, reference, link or HTML in a fence.
 */
export function diffBlock(objects: readonly ObjectChange[], detail: Detail): string {
  const lines = objects.flatMap(object => objectLines(object, detail))
  return fenced('diff', lines)
}

function objectLines(object: ObjectChange, detail: Detail): string[] {
  const name = visible(display(object.id), 300)
  const more = detail === 'counts' && object.fieldCount > 0 ? `, ${fieldsText(object.fieldCount)}` : ''
  const head = `@@ ${name}: ${whatHappens(object)}${more} @@`
  const most = object.change === 'added' ? MAX_ADDED[detail] : MAX_FIELDS[detail]
  const shown = object.fields.slice(0, most)
  const left = object.fieldCount - shown.length
  const rest = left > 0 && detail !== 'counts' ? [`  … and ${fieldsText(left)}${shown.length > 0 ? ' more' : ''}`] : []
  return [head, ...shown.flatMap(field => fieldLines(field, detail)), ...rest]
}

const fieldsText = (count: number): string => `${count} field${count === 1 ? '' : 's'}`

/** What becomes of an object, as a part of a sentence; may hold the name of another Kustomization. */
export function whatHappens({ change, fate, node, from, forced }: ObjectChange): string {
  const other = visible(node ?? '', 200)
  if (change === 'removed') return fate === 'moved' ? `moves to ${other}` : FATES[fate ?? 'kept']
  if (from !== undefined) {
    return `moved from namespace ${visible(from, 200)}${fate === 'deleted' ? ', where it will be DELETED' : ''}`
  }
  if (change === 'moved') return `moves here from ${other}`
  if (change !== 'replaced') return change
  return forced ? 'replaced: deleted and created again' : 'changes an immutable field, which the API server rejects'
}

/** A field before and after, behind `-` and `+`. */
export function fieldLines({ path, change, was, now, lines, hidden }: FieldChange, detail: Detail): string[] {
  if (change === 'order') return [`!  ${path}: order changed`]
  if (hidden) return [`!  ${path}: ${change}, not shown`]
  if (lines) {
    const shown = lines.slice(0, MAX_LINES[detail])
    const left = lines.length - shown.length
    return [`   ${path}:`, ...shown.map(indented), ...(left > 0 ? [`     … and ${left} lines more`] : [])]
  }
  return [...(was === undefined ? [] : [`-  ${path}: ${was}`]), ...(now === undefined ? [] : [`+  ${path}: ${now}`])]
}

/** The mark stays in the first column, where it gives the line its color. */
const indented = (line: string): string => `${line.slice(0, 1)}    ${line.slice(2)}`

/** API groups of Kubernetes itself, whose resources need no group after their name. */
const OWN_GROUP = /\.(?:[a-z0-9.-]+\.k8s\.io|apps|batch|autoscaling|policy|extensions)$/
const MAX_SHOWN = 30

/** How names in a list of rights are quoted, and whether it is cut. */
interface RightList {
  readonly quote: (name: string, max?: number) => string
  readonly isWhole: boolean
}

/** Who gains or loses what, as lines: `dev-team` gains: create `rolebindings` in `apps`. Equal lines once, with all namespaces. In Markdown if nothing is given. */
export function rightLines(
  rights: readonly RightChange[],
  list: RightList = { quote: code, isWhole: false },
): string[] {
  const same = ({ subject: _subject, ...rest }: RightChange) => JSON.stringify(rest)
  const named = [...Map.groupBy(rights, same).values()].map(all => ({
    change: all[0]!,
    subjects: all.map(one => one.subject),
  }))
  const alike = Map.groupBy(named, ({ change: { namespace, ...rest }, subjects }) =>
    JSON.stringify([namespace === '', rest, subjects]),
  )
  const lines = new Map<string, Set<string>>()
  for (const all of alike.values()) {
    const [{ change, subjects }] = all as [(typeof named)[number]]
    const namespaces = all.map(one => one.change.namespace)
    for (const line of linesOf(change, subjects, namespaces, list))
      lines.set(line, (lines.get(line) ?? new Set()).add(change.cluster))
  }
  const most = list.isWhole ? Number.POSITIVE_INFINITY : FEW_CLUSTERS
  const placesOf = (clusters: ReadonlySet<string>) => firstNames([...clusters], most, name => list.quote(name, 80))
  return [...lines].map(([line, clusters]) => `${line}, on ${placesOf(clusters)}`)
}

function linesOf(
  { tenant, namespace, gains, loses, unknown }: RightChange,
  subjects: readonly string[],
  namespaces: readonly string[],
  list: RightList,
): string[] {
  const { quote, isWhole } = list
  const places = firstNames(namespaces, isWhole ? namespaces.length : 5, one => quote(one, 80))
  const where = namespace === '' ? 'in the whole cluster' : `in ${places}`
  const all = firstNames(subjects, isWhole ? subjects.length : 5, one => quote(one))
  const who = tenant === '' ? all : `${quote(tenant, 80)} (${all})`
  const verb = (one: string, many: string) => (tenant === '' && subjects.length > 1 ? many : one)
  const roles = unknown.map(role => quote(role)).join(', ')
  return [
    ...(gains.length > 0 ? [`${who} ${verb('gains', 'gain')}: ${listText(gains, list)} ${where}`] : []),
    ...(loses.length > 0 ? [`${who} ${verb('loses', 'lose')}: ${listText(loses, list)} ${where}`] : []),
    ...(unknown.length > 0
      ? [
          `${who} ${verb('is', 'are')} bound ${where} to ${roles}, which the fleet does not render, so the rights are unknown`,
        ]
      : []),
  ]
}

function listText(rights: readonly Right[], list: RightList): string {
  if (rights.some(isEverything)) return 'do everything'
  const shown = rights.slice(0, list.isWhole ? rights.length : MAX_SHOWN)
  const alike = Map.groupBy(shown, ({ verbs, names }) => JSON.stringify([verbs, names]))
  const texts = [...alike.values()].map(some => rightsText(some as [Right, ...Right[]], list))
  return `${texts.join('; ')}${andMore(rights.length - shown.length)}`
}

const isEverything = ({ verbs, resource, names }: Right): boolean =>
  verbs.includes('*') && resource === '*.*' && names.length === 0

/** Rights with the same verbs and names. */
function rightsText(rights: readonly [Right, ...Right[]], { quote }: RightList): string {
  const [{ verbs, names }] = rights
  const verbText = (verb: string) => (/^[a-z]+$/.test(verb) ? verb : quote(verb, 40))
  const what = rights
    .map(({ resource }) => (resource === '*.*' ? 'everything' : quote(resource.replace(OWN_GROUP, ''))))
    .join(', ')
  const only = names.length > 0 ? ` named ${names.map(name => quote(name, 80)).join(', ')}` : ''
  return `${verbs.includes('*') ? 'do anything with' : verbs.map(verb => verbText(verb)).join(', ')} ${what}${only}`
}

const FEW_CLUSTERS = 10

/** Names of clusters, as Markdown; `more`: how many there are besides. */
export function clusterList(clusters: readonly string[], more = 0): string {
  return firstNames(clusters, FEW_CLUSTERS, name => code(name, 80), more)
}

/** Maximum number of lines where not all is asked for. */
const FEW_LINES = 20
const FEW_FIELDS = 4

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
  const { change, namespace, name, tenant, prune, counts } = node
  const notes = [
    ...nodeNotes(node, text => visible(text), prune || node.unknown ? [] : ['prune is off']),
    countsText(counts),
  ].filter(note => note !== '')
  const who = tenant === '' ? '' : ` (tenant ${visible(tenant)})`
  const head = `  ${markOf(change)} Kustomization ${visible(`${namespace}/${name}`)} on ${namesText(clusters)}${who}`
  return notes.length > 0 ? `${head}: ${notes.join('; ')}` : head
}

/** What else there is to say of a Kustomization. `show`: a name as the surface writes it; `besides`: what only some say. */
export function nodeNotes(
  { change, unknown, suspended, identity }: NodeChange,
  show: (name: string) => string,
  besides: readonly string[] = [],
): string[] {
  return [
    ...(change === 'changed' ? [] : [change]),
    ...(unknown ? [`changes unknown: it could not be rendered ${unknown} the change`] : []),
    ...(suspended ? ['suspended: Flux applies these changes only after it is resumed'] : []),
    ...besides,
    ...(identity ? [`applied as ${show(identity.now)}, was ${show(identity.was)}`] : []),
  ]
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
  return firstNames(names, FEW_CLUSTERS, name => visible(name), besides)
}
