import { resolve } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { packTree } from '../../flux/artifact.ts'
import { renderKustomization } from '../../flux/render-kustomization.ts'
import type { PostBuildFacts } from '../../flux/substitute/post-build.ts'
import { variablesOf } from '../../flux/substitute/variables.ts'
import { readFolder } from '../../git/folder-tree.ts'
import { entriesBelow, openSnapshot, type Tree } from '../../git/tree.ts'
import { at, type Field, isNull, isTrue, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { type Exact, exactOf, renderDirectory } from './rendering.ts'

type Answer = { [key: string]: Exact }

/** The answer to one line of `render --stdin`; its `error` starts with the error code. */
export async function answerRender(line: string): Promise<Answer> {
  const answer: Answer = {}
  try {
    await answerInto(answer, line)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    const { origin, rule } = error
    const place = origin ? ` (${origin.file}:${origin.line})` : ''
    return { ...answer, error: `${error.code}: ${error.message}${place}${rule ? ` [${rule}]` : ''}` }
  }
  return answer
}

async function answerInto(answer: Answer, line: string): Promise<void> {
  const request = parseRequest(line)
  checkRequest(request)
  const root = stringAt(request, ['root'])
  const directory = stringAt(request, ['build'])
  if (directory !== undefined) {
    const place = { directory: resolve(directory), ...(root === undefined ? {} : { root: resolve(root) }) }
    const { objects } = await renderDirectory({ ...place, cwd: process.cwd() })
    answer.objects = objects.map(object => exactOf(object.root))
    return
  }
  if (root === undefined) throw new BailiwickError('usage', 'a request needs root or build')
  const ignore = stringAt(request, ['ignore'])
  const tree = await open(resolve(root))
  answer.files = [...entriesBelow(packTree(tree, ignore), '')].flatMap(({ type, path }) =>
    type === 'file' ? path : [],
  )
  const kustomization = request.fields.get('kustomization')?.value
  if (kustomization?.type !== 'map') return
  const artifact = { repository: '', tree, ...(ignore === undefined ? {} : { ignore }) }
  const objects = renderKustomization(
    artifact,
    { root: kustomization, trail: [] },
    requestFacts(request, kustomization),
  )
  if (objects.length > 0) answer.objects = objects.map(object => exactOf(object.root))
}

const open = async (directory: string): Promise<Tree> => openSnapshot(await readFolder(directory))

const REQUEST = { repository: '', file: 'request', line: 1, column: 1 }

function parseRequest(line: string): MapNode {
  const request = parseJson(line)
  if (request.type !== 'map') throw new BailiwickError('usage', 'a request is one JSON object per line')
  return request
}

function parseJson(line: string): Node {
  try {
    return jsonNode(line, REQUEST)
  } catch (cause) {
    // the reader runs out of stack where a text nests some thousand levels deep
    if (!(cause instanceof SyntaxError || cause instanceof RangeError)) throw cause
    const message = 'a request is one JSON object per line, and this line is no JSON or nests too deep'
    throw new BailiwickError('usage', message, { cause })
  }
}

/** The types of the fields of a `render --stdin` request; null counts as absent if Go accepts that. */
const FIELDS: Readonly<Record<string, readonly [is: (node: Node) => boolean, what: string]>> = {
  root: [isText, 'a text'],
  build: [isText, 'a text'],
  ignore: [isText, 'a text'],
  strict: [node => isNull(node) || (node.type === 'scalar' && typeof node.value === 'boolean'), 'true or false'],
  kustomization: [isObject, 'an object with a kind'],
  objects: [
    node => isNull(node) || (node.type === 'list' && node.items.every(isObject)),
    'a list of objects with a kind',
  ],
}

/** Throws `usage` for a request with a field of the wrong type. Unknown fields are ignored. */
function checkRequest(request: MapNode): void {
  for (const [name, [is, what]] of Object.entries(FIELDS)) {
    const node = request.fields.get(name)?.value
    if (node && !is(node)) throw new BailiwickError('usage', `${name} of a request must be ${what}`)
  }
}

function isText(node: Node): boolean {
  return isNull(node) || (node.type === 'scalar' && typeof node.value === 'string')
}

function isObject(node: Node): boolean {
  return node.type === 'map' && Boolean(stringAt(node, ['kind']))
}

/**
 * The cluster facts in a request of `render --stdin`: its `objects` are what `substituteFrom` finds in the
 * Kustomization's namespace; without `strict` an unset variable is empty.
 */
export function requestFacts(request: MapNode, kustomization: MapNode): PostBuildFacts {
  const list = at(request, ['objects'])
  const objects = list?.type === 'list' ? list.items.filter(item => item.type === 'map') : []
  const namespace = stringAt(kustomization, ['metadata', 'namespace']) ?? ''
  const strict = at(request, ['strict'])
  return {
    strict: isTrue(strict),
    findSource: (kind, name) => {
      const found = objects.find(root => {
        const id = idOf({ root, trail: [] })
        return id.kind === kind && id.name === name && id.namespace === namespace
      })
      return found && { variables: variablesOf(found) }
    },
  }
}

type Plain = string | number | bigint | boolean | null | Plain[] | { [key: string]: Plain }

// in the language, but not yet in lib.es2024
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const { parse } = JSON as unknown as { parse(text: string, reviver: Reviver): Plain }

/** A JSON text as a node, integers exact; every value is at `origin`. Throws SyntaxError for invalid JSON. */
export function jsonNode(text: string, origin: Origin): Node {
  const plain = parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '') ? BigInt(source!) : value,
  )
  return nodeOf(plain, origin)
}

function nodeOf(value: Plain, origin: Origin): Node {
  if (Array.isArray(value)) return { type: 'list', items: value.map(item => nodeOf(item, origin)), origin }
  if (value === null || typeof value !== 'object') {
    return { type: 'scalar', value, origin, ...(typeof value === 'string' ? { quoted: true } : {}) }
  }
  const fields = new Map<string, Field>()
  for (const [key, child] of Object.entries(value)) fields.set(key, { key: origin, value: nodeOf(child, origin) })
  return { type: 'map', fields, origin }
}
