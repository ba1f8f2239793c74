import { BailiwickError } from '../errors.ts'
import { type MapNode, type Node, stringAt } from '../kube/node.ts'

/** What the fields of a request of `render --stdin` must be; null is as good as absent where Go takes it so. */
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

/** Throws `usage` for a request whose fields are not what they must be. Fields that nobody knows are let be. */
export function checkRequest(request: MapNode): void {
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

function isNull(node: Node): boolean {
  return node.type === 'scalar' && node.value === null
}
