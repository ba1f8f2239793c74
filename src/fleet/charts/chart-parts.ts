import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { Node } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { refKey } from '../model/ref.ts'
import { type ChartContent, type ContentPlace, inside } from './chart-places.ts'

/** A file or directory that a chart is made of. */
export interface ChartPart {
  readonly url: string
  /** As refKey gives it. */
  readonly ref: string
  readonly path: string
  /** Git id of what is there; '' for nothing, undefined where the repository is not visible. */
  readonly id: string | undefined
}

/** Gives what a repository holds; undefined where it is not visible. */
export type TreeOf = (place: Pick<ContentPlace, 'url' | 'ref'>) => Tree | undefined

/** Charts that one chart depends on; more than that, and everything in its repositories counts. */
const MAX_CHARTS = 200
/** Where a chart names what it depends on (Helm 3 and Helm 2). */
const DEPENDENCIES = ['Chart.yaml', 'requirements.yaml']
const IGNORE_FILE = '.sourceignore'

/**
 * Everything in git that decides what a chart is: its directory, the charts that it takes from beside it (`file://`, as
 * source-controller resolves them), its values files, and the ignore files above. Rather more than less.
 */
export function chartParts(content: ChartContent, treeOf: TreeOf): ChartPart[] {
  const parts = new Map<string, ChartPart>()
  const add = ({ url, ref, path }: ContentPlace) => {
    const tree = treeOf({ url, ref })
    const part = { url, ref: refKey(ref), path, id: tree && (path === '' ? tree.id : (tree.entry(path)?.id ?? '')) }
    parts.set(`${url} ${part.ref} ${path}`, part)
    return tree
  }
  const seen = new Set<string>()
  const queue = [...content.charts]
  for (let chart = queue.pop(); chart !== undefined; chart = queue.pop()) {
    if (seen.has(chart)) continue
    if (seen.size >= MAX_CHARTS) {
      for (const source of content.sources) add({ ...source, path: '' })
      break
    }
    seen.add(chart)
    for (const place of content.placesOf(chart)) {
      const tree = add(place)
      const named = tree ? dependenciesIn(tree, place.path) : []
      if (named === 'unreadable') add({ ...place, path: '' })
      else queue.push(...named.map(path => inside(`${chart}/${path}`)))
    }
  }
  for (const file of content.files) for (const place of content.placesOf(file)) add(place)
  for (const part of [...parts.values()]) {
    const place = { url: part.url, ref: JSON.parse(part.ref) as ContentPlace['ref'] }
    for (const path of ignoreFilesAbove(part.path)) if (treeOf(place)?.entry(path)) add({ ...place, path })
  }
  return [...parts.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

const keyOf = ({ url, ref, path }: ChartPart): string => `${url} ${ref} ${path}`

function ignoreFilesAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return [IGNORE_FILE, ...parts.map((_part, index) => `${parts.slice(0, index + 1).join('/')}/${IGNORE_FILE}`)]
}

const known = new WeakMap<Tree, Map<string, readonly string[] | 'unreadable'>>()

/** The paths, relative to a chart, of the charts in git that it depends on. */
function dependenciesIn(tree: Tree, chart: string): readonly string[] | 'unreadable' {
  const ofTree = known.get(tree) ?? new Map<string, readonly string[] | 'unreadable'>()
  known.set(tree, ofTree)
  const found = ofTree.get(chart) ?? readDependencies(tree, chart)
  ofTree.set(chart, found)
  return found
}

function readDependencies(tree: Tree, chart: string): readonly string[] | 'unreadable' {
  try {
    const files = DEPENDENCIES.map(name => inside(`${chart}/${name}`)).filter(path => tree.entry(path)?.type === 'file')
    const texts = files.flatMap(path =>
      parseDocuments({ repository: '', path }, tree.read(path)).flatMap(root => [...textsIn(root)]),
    )
    return texts.flatMap(text => localPaths(text))
  } catch (error) {
    if (error instanceof BailiwickError) return 'unreadable'
    throw error
  }
}

/** Wherever it stands: Helm compares the names of fields without their case. */
function* textsIn(node: Node): Generator<string> {
  if (node.type === 'list') for (const item of node.items) yield* textsIn(item)
  else if (node.type === 'map') for (const field of node.fields.values()) yield* textsIn(field.value)
  else if (typeof node.value === 'string') yield node.value
}

/** The address is a URL whose host and path are joined to the chart (source-controller, internal/helm/chart/dependency_manager.go). */
function localPaths(text: string): string[] {
  const local = /^\s*file:(?:\/\/)?([^?#]*)/i.exec(text)?.[1]
  if (local === undefined) return []
  try {
    return [local, decodeURIComponent(local)]
  } catch {
    return [local]
  }
}
