import { type AppliedNode, type AppliedObject, READY_REASONS } from '../report/apply-report.ts'
import { JsonReader } from './json-reader.ts'

/** What became of one revision set on one cluster, as its worker says. */
export interface ApplyResults {
  /** As the work named it. */
  readonly revisionSet: string
  readonly applied: readonly AppliedNode[]
  /** Why the run as a whole ended early. */
  readonly failure?: string
}

/** Bytes of results; a worker sends less. */
export const MAX_RESULT_BYTES = 16 * 1024 * 1024
const MAX_NODES = 50_000
const MAX_OBJECTS = 200_000
const LONGEST_TEXT = 20_000
const LONGEST_NAME = 600
/** `<cluster>/<namespace>/<name>`. */
const KEY = /^[^/\s]{1,63}\/[^/\s]{0,253}\/[^/\s]{1,253}$/
const OUTCOMES = ['applied', 'held', 'failed'] as const
const ACTIONS = ['created', 'configured', 'unchanged', 'skipped', 'pruned', 'withheld', 'refused'] as const

/**
 * Reads what the worker of a cluster sent, which may be anything. That it speaks of nodes of its own cluster only is for
 * whoever knows these nodes. Throws `cluster-invalid` naming what is wrong.
 */
export function parseApplyResults(text: string): ApplyResults {
  const results = JsonReader.parse(text, 'results')
  const failure = results.optional('failure')?.text(LONGEST_TEXT)
  let left = MAX_OBJECTS
  const applied = new Map<string, AppliedNode>()
  for (const one of results.field('applied').list(MAX_NODES)) {
    const objects = one.field('objects').list(left)
    left -= objects.length
    // the last one of a key counts
    applied.set(one.field('key').text(LONGEST_NAME, KEY), readNode(one, objects))
  }
  return {
    revisionSet: results.field('revisionSet').text(200),
    applied: [...applied.values()],
    ...(failure === undefined ? {} : { failure }),
  }
}

/** As it is sent; what would be too large keeps what became of each node, without its objects. */
export function applyResultsText(results: ApplyResults): string {
  const text = JSON.stringify(results)
  if (Buffer.byteLength(text) <= MAX_RESULT_BYTES) return text
  const applied = results.applied.map(({ objects, ...node }) => ({
    ...node,
    objects: objects.filter(({ action }) => action === 'refused').slice(0, 5),
    note: `${objects.length} objects: too many for one report`,
  }))
  return JSON.stringify({ ...results, applied })
}

function readNode(one: JsonReader, objects: readonly JsonReader[]): AppliedNode {
  return {
    key: one.field('key').text(LONGEST_NAME, KEY),
    user: one.field('user').text(LONGEST_NAME),
    outcome: one.field('outcome').oneOf(OUTCOMES),
    ...textOf(one, 'reason'),
    ...readyOf(one),
    ...textOf(one, 'note'),
    objects: objects.map(readObject),
  }
}

function readyOf(one: JsonReader): Pick<AppliedNode, 'ready'> {
  const ready = one.optional('ready')?.oneOf(READY_REASONS)
  return ready === undefined ? {} : { ready }
}

function readObject(one: JsonReader): AppliedObject {
  const object = one.field('object')
  const name = (key: string) => object.field(key).text(LONGEST_NAME)
  return {
    object: { apiVersion: name('apiVersion'), kind: name('kind'), namespace: name('namespace'), name: name('name') },
    action: one.field('action').oneOf(ACTIONS),
    ...textOf(one, 'message'),
  }
}

function textOf<K extends string>(one: JsonReader, key: K): { [P in K]?: string } {
  const text = one.optional(key)?.text(LONGEST_TEXT)
  return (text === undefined ? {} : { [key]: text }) as { [P in K]?: string }
}
