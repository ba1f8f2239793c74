import { bullets, code, prose } from '../base/markup.ts'
import type { SourceLine } from '../base/origin.ts'
import { redact, visible } from '../base/visible.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { Evaluation } from '../rules/model/finding.ts'
import { type Annotation, annotationAt, isAnnotatable, MAX_ANNOTATIONS } from './check-run-text.ts'
import { count } from './text/findings.ts'
import { fitBudget, type Section } from './text/fit-budget.ts'
import { placeOf } from './text/place.ts'
import { PrivateWords, through } from './text/private-words.ts'

/** What became of one object. `message` is the API server's, where it refused. */
export interface AppliedObject {
  readonly object: ObjectId
  /** `withheld`: not applied, because others of its node were refused. `skipped`: left alone as its labels or annotations ask. */
  readonly action: 'created' | 'configured' | 'unchanged' | 'skipped' | 'pruned' | 'withheld' | 'refused'
  readonly message?: string
  /** What others had changed of it: fields, and the names of field managers. */
  readonly drift?: Pick<DriftNote, 'fields' | 'managers'>
  /** Where it is written; of what was refused only. */
  readonly place?: SourceLine
  /** Which fields were refused, as the API server names them. */
  readonly fields?: readonly NamedField[]
}

/** A field of an object. `place`: where it is written, or what it would be a part of. */
export interface NamedField {
  readonly field: string
  readonly place?: SourceLine
}

/** Why a node is not ready, beside NotApproved and ReconciliationFailed. */
export const READY_REASONS = ['DependencyNotReady', 'HealthCheckFailed', 'PruneFailed', 'Suspended'] as const

/** What became of one node. `reason`: why it is held, or why it failed as a whole. */
export interface AppliedNode {
  readonly key: string
  /** Who it was applied as. */
  readonly user: string
  readonly outcome: 'applied' | 'held' | 'failed'
  readonly reason?: string
  readonly objects: readonly AppliedObject[]
  /** Where its Kustomization is written; of one that is not applied only. */
  readonly place?: SourceLine
  /** Reason of its Ready condition, where neither `outcome` nor its objects say it. */
  readonly ready?: (typeof READY_REASONS)[number]
  /** What went wrong beside the apply, which it does not concern: its status could not be shown. */
  readonly note?: string
}

/** The check run of an apply on the commit that was applied. */
interface ApplyCheckRun {
  readonly name: string
  readonly conclusion: 'success' | 'failure'
  readonly title: string
  readonly summary: string
  readonly annotations: readonly Annotation[]
}

/**
 * What an apply did on one cluster, reported on a commit: per node what was created, configured, pruned and refused, in the API
 * server's words without secret values, at the line that writes it, and what is held. Pass only the nodes that the commit's
 * repository may see. `here`: its address; lines of other repositories are left out.
 */
export function applyReport(cluster: string, nodes: readonly AppliedNode[], here: string): ApplyCheckRun {
  const held = nodes.filter(node => node.outcome === 'held')
  const failed = nodes.filter(node => node.outcome === 'failed' || node.objects.some(o => o.action === 'refused'))
  const parts = partsOf(['created', 'configured', 'pruned', 'withheld', 'refused'], action =>
    nodes.reduce((sum, node) => sum + node.objects.filter(o => o.action === action).length, 0),
  )
  if (held.length > 0) parts.push(`${count(held.length, 'Kustomization')} held`)
  const broken = failed.filter(node => node.outcome === 'failed').length
  if (broken > 0) parts.push(`${count(broken, 'Kustomization')} failed`)
  const checked = nodes.filter(node => node.outcome === 'applied' && node.reason !== undefined).length
  if (checked > 0) parts.push(`${count(checked, 'Kustomization')} not ready yet`)
  const clean = nodes.filter(node => !failed.includes(node) && !held.includes(node))
  const sections = [...failed, ...held, ...clean].map(node => nodeSection(node, here))
  return {
    name: applyRunName(cluster),
    conclusion: failed.length + held.length > 0 ? 'failure' : 'success',
    title: parts.length > 0 ? parts.join(', ') : 'Nothing to do: the cluster is as it was approved',
    summary: fitBudget(`Applied to ${code(cluster, 80)}: ${count(nodes.length, 'Kustomization')}.`, sections),
    annotations: failed.flatMap(node => annotationsOf(node, here)).slice(0, MAX_ANNOTATIONS),
  }
}

/** One for each refused object that this repository writes; of a node that failed as a whole, one at its Kustomization. */
function annotationsOf({ key, outcome, reason = '', place, objects }: AppliedNode, here: string): Annotation[] {
  const refused = objects.flatMap(({ action, object, message = 'refused', fields = [], ...one }) => {
    if (action !== 'refused') return []
    const [first] = fields.flatMap(field => (isHere(field.place, here) ? [field.place] : []))
    const at = first ?? one.place
    const title = `${display(object)} refused (${key})`
    return { title, message: redact(message, object), ...(at ? { place: at } : {}) }
  })
  const whole = outcome === 'failed' && refused.length === 0
  const all = whole ? [{ title: `${key} failed`, message: redact(reason), ...(place ? { place } : {}) }] : refused
  return all.flatMap(({ title, message, place: at }) =>
    isHere(at, here) ? annotationAt(at, 'failure', title, visible(message, 2000)) : [],
  )
}

/** Lines of another repository may be read by fewer people than those of this one. */
function isHere(place: SourceLine | undefined, here: string): place is SourceLine {
  return place !== undefined && place.repository === here && isAnnotatable(place.file)
}

/** How many objects of a node are listed; refused ones come first. */
const MAX_OBJECTS = 200

function nodeSection(node: AppliedNode, here: string): Section {
  const order = ['refused', 'withheld', 'pruned', 'created', 'configured', 'skipped']
  const changed = node.objects
    .filter(item => item.action !== 'unchanged')
    .sort((a, b) => order.indexOf(a.action) - order.indexOf(b.action))
  const at = (place: SourceLine | undefined) => (isHere(place, here) ? ` at ${code(placeOf(place, here))}` : '')
  const list = bullets(changed, MAX_OBJECTS, one => objectText(one, at))
  const unchanged = node.objects.length - changed.length
  const lines = [
    list,
    unchanged > 0 ? `- unchanged: ${count(unchanged, 'object')}` : '',
    node.note ? `- ${prose(redact(node.note))}` : '',
  ]
  const reason = node.reason ? `: ${prose(redact(node.reason))}` : ''
  // a run that ended before its first node belongs to no tenant
  const as = node.user === '' ? '' : `\n\nas ${code(node.user)}`
  const head = `### ${code(node.key)}${at(node.place)} ${outcomeOf(node)}${reason}${as}`
  const text = [head, lines.filter(line => line !== '').join('\n')].filter(part => part !== '').join('\n\n')
  return { text, label: 'Kustomization' }
}

/** One object with the fields that were refused. `at`: where something is, for readers who may see it; '' for others. */
export function objectText(
  { action, object, message, place, fields = [] }: AppliedObject,
  at: (place: SourceLine | undefined) => string,
): string {
  const why = message ? `: ${code(redact(message, object), 1000)}` : ''
  const parts = fields.flatMap(one => {
    const where = at(one.place)
    return where === '' ? [] : [`  - ${code(redact(one.field, object), 300)}${where}`]
  })
  return [`${action} ${code(display(object))}${at(place)}${why}`, ...parts].join('\n')
}

/** A refused object blocks the other objects of its stage; earlier stages remain applied. */
function outcomeOf({ outcome, objects }: AppliedNode): string {
  if (outcome !== 'applied' || objects.every(({ action }) => action !== 'refused')) return outcome
  const isChanged = objects.some(({ action }) => ['created', 'configured', 'pruned'].includes(action))
  return isChanged ? 'applied in part' : 'refused'
}

/** How many there are of each that there is. */
export function partsOf<T extends string>(all: readonly T[], numberOf: (one: T) => number): string[] {
  return all.flatMap(one => {
    const number = numberOf(one)
    return number > 0 ? [`${number} ${one}`] : []
  })
}

/** The name of the check run for what a worker applied to a cluster. */
export const applyRunName = (cluster: string): string => visible(`bailiwick / apply (${cluster})`, 100)

/** What others changed of one object on a cluster, and the worker put back: names only, never a value. */
export interface DriftNote {
  /** Key of the node. */
  readonly node: string
  readonly object: ObjectId
  readonly change: 'changed' | 'deleted'
  readonly fields: readonly string[]
  /** Names of field managers. */
  readonly managers: readonly string[]
  readonly count: number
  /** ISO times. */
  readonly first: string
  readonly last: string
}

/** What was applied, as the tenants whose nodes these are may read it: reasons and refusals without the names of others. */
export function applyViewFor(
  nodes: readonly AppliedNode[],
  { verdict, nodes: evaluated }: Evaluation,
): readonly AppliedNode[] {
  const keys = new Set(nodes.map(node => node.key))
  const audience = new Set(evaluated.filter(node => keys.has(node.key)).map(node => node.tenant ?? ''))
  const words = new PrivateWords(verdict, [...audience], evaluated)
  return through(nodes, text => words.hide(text), OPEN_OF_NODE)
}

const OPEN_OF_NODE = ['key', 'user', 'outcome', 'ready', 'object', 'action', 'drift', 'place']
