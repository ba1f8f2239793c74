import { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import {
  at,
  type MapNode,
  mapNode,
  type Node,
  originAt,
  type Path,
  stringAt,
  textNode,
  withField,
  withValueAt,
} from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import { parseText } from '../yaml/parse-documents.ts'
import { placesOf } from './capability.ts'
import { EMBEDDINGS, type EmbeddedPlace } from './embeddings.ts'

/** An object that a controller makes of another one. */
export interface EmbeddedObject {
  readonly object: KubeObject
  /** What it stands in, which may be embedded itself. */
  readonly holder: KubeObject
  readonly place: EmbeddedPlace
  /** It has placeholders, so that names and the like are not what is written. */
  readonly isTemplate: boolean
}

/** Something in an object that becomes objects, which are not known here. */
export interface Unevaluated {
  readonly holder: KubeObject
  readonly path: Path
  readonly place: EmbeddedPlace
  /** `template`: it has placeholders; `text`: it cannot be read; `content`: it stands elsewhere; `depth`: nested too deep. */
  readonly why: 'template' | 'text' | 'content' | 'depth'
}

export interface EmbeddedObjects {
  readonly objects: readonly EmbeddedObject[]
  readonly unevaluated: readonly Unevaluated[]
}

/** Levels of objects within objects. */
const MAX_DEPTH = 4
const NOTHING: EmbeddedObjects = { objects: [], unevaluated: [] }
/** Every object that controllers make of this one, those inside of these too; and what of it is not known. */
export const embeddedIn = oncePer((object: KubeObject): EmbeddedObjects => {
  const found = new Finder()
  found.search(object, 0)
  return found.objects.length + found.unevaluated.length > 0 ? found : NOTHING
})

/** An object, and every object that controllers make of it. */
export function withEmbedded(object: KubeObject): KubeObject[] {
  return [object, ...embeddedIn(object).objects.map(one => one.object)]
}

function placesIn(object: KubeObject): readonly EmbeddedPlace[] {
  const { apiVersion, kind } = idOf(object)
  const own = `${groupOf(apiVersion)}/${kind}`
  const ofAll = at(object.root, ['spec', 'writeConnectionSecretToRef']) ? EMBEDDINGS['*']! : []
  return [...(Object.hasOwn(EMBEDDINGS, own) ? EMBEDDINGS[own]! : []), ...ofAll]
}

class Finder {
  readonly objects: EmbeddedObject[] = []
  readonly unevaluated: Unevaluated[] = []

  search(holder: KubeObject, depth: number): void {
    for (const place of placesIn(holder)) {
      for (const path of placesOf(holder.root, place.at)) {
        const node = at(holder.root, path)
        // what only the cluster has is for the rules about unknown values
        if (!node || (node.type === 'scalar' && (node.value === null || node.opaque))) continue
        if (depth >= MAX_DEPTH) this.unevaluated.push({ holder, path, place, why: 'depth' })
        else this.#take(holder, place, path, node, depth)
      }
    }
  }

  #take(holder: KubeObject, place: EmbeddedPlace, path: Path, node: Node, depth: number): void {
    const { form } = place
    if (form === 'content') this.unevaluated.push({ holder, path, place, why: 'content' })
    else if (form === 'text') this.#text(holder, place, path, node, depth)
    else if (form === 'anywhere') this.#anywhere(holder, place, path, node, depth)
    else if (form === 'object') this.#object(holder, place, path, node, depth)
    else {
      const made = form === 'generate' ? generated(node) : madeOf(holder, place, path, form.kind)
      if (made) this.#add(holder, place, path, made, depth)
    }
  }

  /** Items of a list are objects of their own. */
  #object(holder: KubeObject, place: EmbeddedPlace, path: Path, node: Node, depth: number): void {
    const items = at(node, ['items'])
    if (items?.type === 'list') {
      const isDeep = path.length > 40
      if (isDeep) this.unevaluated.push({ holder, path, place, why: 'depth' })
      for (const [index, item] of isDeep ? [] : items.items.entries()) {
        this.#object(holder, place, [...path, 'items', index], item, depth)
      }
      if (stringAt(node, ['kind'])?.endsWith('List')) return
    }
    if (node.type === 'map') this.#add(holder, place, path, node, depth)
    else this.unevaluated.push({ holder, path, place, why: 'template' })
  }

  #text(holder: KubeObject, place: EmbeddedPlace, path: Path, node: Node, depth: number): void {
    const text = node.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined
    if (text === undefined) {
      this.#object(holder, place, path, node, depth)
      return
    }
    const isTemplate = place.placeholder !== undefined && text.includes(place.placeholder)
    if (isTemplate) this.unevaluated.push({ holder, path, place, why: 'template' })
    try {
      const { documents } = parseText(text, linesOf(node))
      for (const document of documents) {
        if (document.type === 'map') this.#object(holder, place, path, document, depth)
        else if (!isTemplate) this.unevaluated.push({ holder, path, place, why: 'text' })
      }
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      if (!isTemplate) this.unevaluated.push({ holder, path, place, why: 'text' })
    }
  }

  /** Objects in the values of a chart, as maps or as texts. */
  #anywhere(holder: KubeObject, place: EmbeddedPlace, path: Path, root: Node, depth: number): void {
    const open: { path: Path; node: Node }[] = [{ path, node: root }]
    for (let here = open.pop(); here; here = open.pop()) {
      const { node } = here
      if (node.type === 'list') {
        for (const [index, item] of node.items.entries()) open.push({ path: [...here.path, index], node: item })
      } else if (node.type === 'map') {
        const isObject = isText(node, 'apiVersion') && isText(node, 'kind') && at(node, ['metadata'])?.type === 'map'
        if (isObject) this.#object(holder, place, here.path, node, depth)
        else for (const [key, { value }] of node.fields) open.push({ path: [...here.path, key], node: value })
      } else if (typeof node.value === 'string' && /^apiVersion:/m.test(node.value) && /^kind:/m.test(node.value)) {
        this.#text(holder, place, here.path, node, depth)
      } else if (typeof node.value === 'string' && MANIFEST.every(key => key.test(node.value as string))) {
        const documents = documentsOf(node.value, node)
        if (!documents) this.unevaluated.push({ holder, path: here.path, place, why: 'text' })
        for (const document of documents ?? []) {
          if (document.type !== 'scalar') open.push({ path: here.path, node: document })
        }
      }
    }
  }

  #add(holder: KubeObject, place: EmbeddedPlace, path: Path, node: MapNode, depth: number): void {
    const { namespace } = idOf(holder)
    const written = at(node, ['metadata', 'namespace'])
    const isAbsent =
      written === undefined || (written.type === 'scalar' && (written.value === null || written.value === ''))
    const own = textNode(namespace, written?.origin ?? originAt(holder.root, ['metadata', 'namespace']))
    const placed = place.namespace === 'own' || isAbsent ? withValueAt(node, ['metadata', 'namespace'], own) : node
    const prefix = isText(at(node, ['metadata']) ?? node, 'name') ? undefined : at(node, ['metadata', 'generateName'])
    const root = prefix ? withValueAt(placed, ['metadata', 'name'], prefix) : placed
    const object: KubeObject = { root, trail: holder.trail, ...(holder.sops ? { sops: holder.sops } : {}) }
    const template = place.placeholder === undefined ? undefined : placeholderIn(root, place.placeholder)
    if (template) this.unevaluated.push({ holder, path: [...path, ...template], place, why: 'template' })
    this.objects.push({ object, holder, place, isTemplate: template !== undefined })
    this.search(object, depth + 1)
  }
}

/** A manifest in a text that is JSON, or a list, or written with quotes: what parses and has the keys of an object is one. */
const MANIFEST = [/(?:^|[\s{,"'-])apiVersion["']?\s*:/m, /(?:^|[\s{,"'-])kind["']?\s*:/m]

/** The documents of a text that may hold manifests; none where it is something else, undefined where it is too much to read. */
function documentsOf(text: string, node: Node): readonly Node[] | undefined {
  try {
    return parseText(text, linesOf(node)).documents
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return error.code === 'render-limits' ? undefined : []
  }
}

const isText = (node: Node, key: string): boolean => (stringAt(node, [key]) ?? '') !== ''

/** Lines of a literal block are lines of the file; other texts are at one place. */
function linesOf(node: Node): (line: number, column: number) => Origin {
  const { origin } = node
  if (node.type !== 'scalar' || node.style !== 'literal') return () => origin
  const indent = node.indent ?? 0
  return (line, column) => ({ ...origin, line: origin.line + line, column: column + indent })
}

/** Kinds whose data is only data, whatever it says. */
const DATA: ReadonlyMap<string, readonly string[]> = new Map([
  ['Secret', ['data', 'stringData']],
  ['ConfigMap', ['data', 'binaryData']],
])

/** The first value that a placeholder stands in, but for what is only data. */
function placeholderIn(root: MapNode, placeholder: string): Path | undefined {
  const isCore = groupOf(stringAt(root, ['apiVersion']) ?? '') === ''
  const data = isCore ? (DATA.get(stringAt(root, ['kind']) ?? '') ?? []) : []
  const open: { path: Path; node: Node }[] = [{ path: [], node: root }]
  for (let here = open.pop(); here; here = open.pop()) {
    const { path, node } = here
    if (node.type === 'scalar') {
      if (typeof node.value === 'string' && node.value.includes(placeholder)) return path
    } else if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) open.push({ path: [...path, index], node: item })
    } else {
      for (const [key, { value }] of node.fields) {
        if (key.includes(placeholder)) return path
        if (path.length > 0 || !data.includes(key)) open.push({ path: [...path, key], node: value })
      }
    }
  }
  return undefined
}

/** What a rule of Kyverno generates: its `data`, called as the rule says. */
function generated(rule: Node): MapNode | undefined {
  if (rule.type !== 'map') return undefined
  const data = at(rule, ['data'])
  let root = data?.type === 'map' ? data : mapNode([], rule.origin)
  for (const field of ['apiVersion', 'kind']) {
    const value = at(rule, [field])
    if (value) root = withField(root, field, value)
  }
  for (const field of ['name', 'namespace']) {
    const value = at(rule, [field])
    if (value) root = withValueAt(root, ['metadata', field], value)
  }
  return isText(root, 'kind') ? root : undefined
}

/** The object that a controller makes of a part. */
function madeOf(holder: KubeObject, place: EmbeddedPlace, path: Path, kind: string): MapNode | undefined {
  const [group = '', version = '', name = ''] = kind.split('/')
  const here = at(holder.root, path)
  const part = place.partAt ? at(holder.root, steps(place.partAt)) : here
  const { origin } = part ?? here ?? holder.root
  const text = (value: string) => textNode(value, origin)
  let root = mapNode(
    [
      ['apiVersion', text(group ? `${group}/${version}` : version)],
      ['kind', text(name)],
    ],
    origin,
  )
  for (const [key, { value }] of part?.type === 'map' ? part.fields : []) {
    if (place.only && !place.only.includes(key)) continue
    if (key === 'labels' || key === 'annotations') root = withValueAt(root, ['metadata', key], value)
    else root = withField(root, key, value)
  }
  const named = [
    place.nameIn ? at(here, [place.nameIn]) : undefined,
    place.nameAt ? at(holder.root, steps(place.nameAt)) : undefined,
    at(part, ['metadata', 'name']),
    at(holder.root, ['metadata', 'name']),
  ]
  const called = named.find(node => node?.type === 'scalar' && typeof node.value === 'string' && node.value !== '')
  if (called) root = withValueAt(root, ['metadata', 'name'], called)
  const namespace = place.namespaceAt ? at(holder.root, steps(place.namespaceAt)) : undefined
  return namespace ? withValueAt(root, ['metadata', 'namespace'], namespace) : root
}

const steps = (place: string): string[] => place.split('.')
