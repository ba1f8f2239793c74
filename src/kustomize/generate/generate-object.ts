import { mapNode, withField } from '../../kube/edit-node.ts'
import type { Field, MapNode, Node } from '../../kube/node.ts'
import type { Origin, Step } from '../../origin.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { Entry, GeneratorEntry } from '../model/entry.ts'
import { makeResource, type Resource } from '../resource/resource.ts'
import { valueNode } from '../resource/value-node.ts'
import { decodeUtf8 } from './decode-utf8.ts'
import { type Pair, type ReadBytes, readPairs } from './read-pairs.ts'

/** What a generator needs beside its entry. */
export interface GeneratorContext {
  /** The kustomization file (or the file of `generators`) that asks for the object. */
  readonly file: string
  readonly budget: BuildBudget
  /** Throws `kustomize-missing` where there is no such file. */
  readonly read: ReadBytes
}

/**
 * The ConfigMap or Secret of one generator entry; each value stands where it was written: its literal, the line of its
 * env file, the start of its file. Throws what reading its sources throws.
 */
export function generateObject(entry: GeneratorEntry, { file, budget, read }: GeneratorContext): Resource {
  const step: Step = { step: 'generator', file, line: entry.origin.line }
  const pairs = readPairs(entry, read)
  budget.spend('steps', 10 * pairs.length + 10, entry.origin)
  let root = emptyObject(entry)
  const isSecret = entry.kind === 'Secret'
  if (isSecret) root = withField(root, 'type', valueNode(entry.type?.text ?? 'Opaque', (entry.type ?? entry).origin))
  const [data, binaryData] = isSecret ? [pairs.map(pair => inBase64(pair, step)), []] : splitByEncoding(pairs, step)
  if (isSecret || data.length > 0) root = withField(root, 'data', mapOf(data, entry.origin))
  if (binaryData.length > 0) root = withField(root, 'binaryData', mapOf(binaryData, entry.origin))
  const { immutable, disableNameSuffixHash } = entry.options
  if (immutable) root = withField(root, 'immutable', { type: 'scalar', value: true, origin: immutable.origin })
  const behavior = entry.behavior === 'unspecified' ? {} : { behavior: entry.behavior }
  return makeResource(root, [step], { needsHash: !disableNameSuffixHash, ...behavior })
}

function emptyObject({ kind, origin, name, namespace, options }: GeneratorEntry): MapNode {
  const metadata: [string, Node][] = [['name', textOf(name)]]
  if (namespace) metadata.push(['namespace', textOf(namespace)])
  for (const field of ['labels', 'annotations'] as const) {
    const pairs = options[field]
    if (pairs.length > 0)
      metadata.push([
        field,
        mapOf(
          pairs.map(([key, entry]) => [key, textOf(entry)]),
          origin,
        ),
      ])
  }
  const fields: [string, Node][] = [
    ['apiVersion', valueNode('v1', origin)],
    ['kind', valueNode(kind, origin)],
    ['metadata', mapNode(metadata, origin)],
  ]
  return mapNode(fields, origin)
}

const textOf = (entry: Entry): Node => valueNode(entry.text, entry.origin)

type Entries = (readonly [string, Node])[]

/** What is UTF-8 goes to `data`, anything else in base64 to `binaryData`. */
function splitByEncoding(pairs: readonly Pair[], step: Step): [Entries, Entries] {
  const data: Entries = []
  const binary: Entries = []
  for (const pair of pairs) {
    const { key, value, origin } = pair
    const text = typeof value === 'string' ? value : decodeUtf8(value)
    if (text === undefined) binary.push(inBase64(pair, step))
    else data.push([key, valueNode(text, from(origin, step))])
  }
  return [data, binary]
}

function inBase64({ key, value, origin, unknown }: Pair, step: Step): readonly [string, Node] {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  const node = valueNode(encodeBase64(bytes), from(origin, step))
  return [key, unknown ? { ...node, opaque: [] } : node]
}

/** A value of another file came here through the entry that names the file. */
function from(origin: Origin, step: Step): Origin {
  return origin.file === step.file ? origin : { ...origin, via: [step] }
}

function mapOf(entries: Entries, origin: Origin): MapNode {
  const fields = new Map<string, Field>()
  for (const [key, value] of entries) fields.set(key, { key: value.origin, value })
  return { type: 'map', fields, origin }
}

const LINE = 70

/** Base64 as kustomize writes it into a Secret: in lines of 70 characters, each with its end, where one is not enough. */
function encodeBase64(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  if (text.length < LINE) return text
  let folded = ''
  for (let start = 0; start < text.length; start += LINE) folded += `${text.slice(start, start + LINE)}\n`
  return folded
}
