import { BailiwickError } from '../../errors.ts'
import { isAbsent, withField, writtenText } from '../../kube/edit-node.ts'
import type { MapNode, Node } from '../../kube/node.ts'
import type { TransformContext } from '../fields/field.ts'
import { invalid, listField, structNode, textField } from '../fields/read-fields.ts'
import { rewriteScalar } from '../fields/rewrite-scalar.ts'
import { inNamespace } from '../fields/set-namespace.ts'
import type { Entry, Target } from '../model/entry.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { select } from '../select/select.ts'
import { shaped } from './config-shape.ts'
import { TRANSFORMER_SHAPES } from './config-shapes.ts'

interface Place {
  readonly selector: Target | undefined
  readonly fieldPath: Entry
  readonly position: number
}

/**
 * ValueAddTransformer: writes a value, by default the name of the kustomization's directory, into a field of objects, or
 * between the parts of a file path that stands there (api/filters/valueadd, 5.8.1). Throws `kustomize-invalid`.
 */
export function addValue(config: MapNode, resources: ResourceList, context: TransformContext): void {
  const places = [...readPlaces(config), ...placesOfFile(config, context)]
  if (places.length === 0) invalid('ValueAddTransformer: target is missing', config.origin)
  const value = textToAdd(config, context)
  for (const { selector, fieldPath, position } of places) {
    context.budget.spendOnEach(resources.all, fieldPath.origin)
    for (const resource of selector ? select(resources.all, selector, context.budget) : resources.all) {
      if (fieldPath.text === 'metadata/namespace') resource.root = inNamespace(resource, value)
      else resource.overwrite(set(resource.root, pathOf(fieldPath), value, position) as MapNode)
    }
  }
  resources.checkUnique()
}

function textToAdd(config: MapNode, { directory: path }: TransformContext): Entry {
  const given = textField(config, 'value')
  const text = given?.text.trim()
  if (given && text) return { text, origin: given.origin }
  const directory = path.split('/').at(-1)
  if (directory) return { text: directory, origin: config.origin }
  const message =
    'ValueAddTransformer: value is missing, and kustomize would use the name of a directory outside of the repository'
  throw new BailiwickError('kustomize-unsupported', message, { origin: config.origin, fix: 'Set value.' })
}

function placesOfFile(config: MapNode, context: TransformContext): Place[] {
  const path = textField(config, 'targetFilePath')
  if (!path?.text) return []
  const [root, second] = context.file(path).documents
  if (second) invalid(`${path.text}: more than one document`, second.origin)
  if (!root) return []
  const { targets } = TRANSFORMER_SHAPES.ValueAddTransformer
  return readPlaces(structNode(shaped(root, { fields: { targets } }), path.text))
}

function readPlaces(config: MapNode): Place[] {
  return listField(config, 'targets').map(node => {
    const target = structNode(node, 'targets[]')
    const fieldPath = textField(target, 'fieldPath')
    if (!fieldPath?.text) return invalid('ValueAddTransformer: a target has no fieldPath', target.origin)
    const selector = target.fields.get('selector')?.value
    return {
      selector: isAbsent(selector) ? undefined : readSelector(structNode(selector, 'selector')),
      fieldPath,
      position: positionOf(target.fields.get('filePathPosition')?.value),
    }
  })
}

function readSelector(map: MapNode): Target {
  const parts = [...map.fields.keys()].map(name => [name, textField(map, name)] as const)
  return Object.fromEntries(parts.filter(([, part]) => part?.text))
}

function positionOf(node: Node | undefined): number {
  if (isAbsent(node)) return 0
  const value = node.type === 'scalar' ? node.value : undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  return invalid('filePathPosition: not a positive integer', node.origin)
}

/** The parts of a path for kyaml's getter, which passes over empty ones; `/` in a name is written `\/`. */
function pathOf({ text, origin }: Entry): readonly string[] {
  const parts = text.replaceAll('\\/', '\0').split('/')
  const names = parts.map(part => part.replaceAll('\0', '/').trim()).filter(part => part !== '')
  const special = names.find(name => /^[-+]?\d+$|^[-*]$|^\[.*\]$/.test(name))
  if (special === undefined && names.length > 0) return names
  const message = `fieldPath ${text}: the part ${JSON.stringify(special ?? '')} is not supported`
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Use field names only.' })
}

function set(node: Node | undefined, path: readonly string[], value: Entry, position: number): Node {
  const { origin } = value
  const [name, ...rest] = path
  if (name === undefined) {
    if (node && node.type !== 'scalar') return invalid('ValueAddTransformer: the field is not a string', node.origin)
    const before = node ? writtenText(node) : ''
    return rewriteScalar(node, position > 0 ? insertPathPart(before, position - 1, value) : value.text, origin)
  }
  const map: Node = node ?? { type: 'map', fields: new Map(), origin }
  if (isAbsent(map)) return absent(map, position, value)
  if (map.type !== 'map') return invalid(`${name}: its parent is not a map`, map.origin)
  return withField(map, name, set(map.fields.get(name)?.value, rest, value, position))
}

/** Below a null nothing is set; with a position kustomize panics there. */
function absent(node: Node, position: number, { origin }: Entry): Node {
  if (position === 0) return node
  throw new BailiwickError('kustomize-unsupported', 'filePathPosition: the field is null', { origin })
}

/**
 * The file path with `part` as the element at `position`, or at its end where it has fewer; an absolute one stays
 * absolute (kyaml/filesys, 5.8.1). Throws `kustomize-unsupported` for paths that kustomize would shorten.
 */
function insertPathPart(path: string, position: number, part: Entry): string {
  if (/(?:^|\/)\.{1,2}(?:\/|$)|\/\//.test(`${path}/${part.text}/`.replace(/^\/|\/$/g, ''))) {
    const message = `filePathPosition: kustomize would shorten the path ${JSON.stringify(path)}, which is not supported`
    throw new BailiwickError('kustomize-unsupported', message, { origin: part.origin })
  }
  const isAbsolute = path.startsWith('/')
  const parts = path === '' || path === '/' ? [] : path.slice(isAbsolute ? 1 : 0).split('/')
  const index = Math.min(position, parts.length)
  const all = [...parts.slice(0, index), part.text, ...parts.slice(index)].filter(other => other !== '')
  return (isAbsolute ? '/' : '') + all.join('/')
}
