import { resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { packTree } from '../flux/pack-tree.ts'
import { renderKustomization } from '../flux/render-kustomization.ts'
import { readFolder } from '../git/folder-tree.ts'
import { openSnapshot } from '../git/snapshot.ts'
import { entriesBelow, type Tree } from '../git/tree.ts'
import { type MapNode, type Node, stringAt } from '../kube/node.ts'
import { checkRequest } from './check-request.ts'
import { type Exact, exactOf } from './exact-json.ts'
import { jsonNode } from './json-node.ts'
import { renderDirectory } from './render-directory.ts'
import { requestFacts } from './request-facts.ts'

type Answer = { [key: string]: Exact }

/** The answer to one line of `render --stdin`; what goes wrong is in its `error`, which starts with the code. */
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
