import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { oncePerName } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import type { Tree } from '../../git/tree.ts'
import {
  EXTERNAL_ARTIFACT,
  GIT_REPOSITORY,
  HELM_CHART,
  HELM_RELEASE,
  KUSTOMIZATION,
  ROOT_NAME,
  ROOT_NAMESPACE,
  sourceNamed,
} from '../../kube/flux-kinds.ts'
import { at, canonical, type Node, originAt, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { type Aliases, addressIn } from '../model/fleet-config.ts'
import { refKey, type SourceRef } from '../model/source-ref.ts'
import { contentSpec } from './compose-source.ts'
import { sourceRefOf } from './resolve-source.ts'

/** An object of a cluster as another one names it. */
export interface NamedObject {
  /** `<group>/<Kind>`. */
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The chart that a HelmRelease or a HelmChart asks for. */
interface ChartSpec {
  /** Where the chart is named: the field to point at. */
  readonly field: Path
  readonly source: NamedObject
  /** Path of the chart below the source; undefined where the source is the chart. */
  readonly path?: string
  /** Paths below the source. */
  readonly valuesFiles: readonly string[]
}

/** Kinds that deploy content of git that is not rendered: charts, and what a Kustomization takes from an ExternalArtifact. */
export const DEPLOYERS: readonly string[] = [HELM_RELEASE, KUSTOMIZATION]

/** What a HelmRelease (`spec.chartRef` before `spec.chart`, as helm-controller reads them) or a HelmChart names; undefined: nothing. */
export function chartSpecOf(object: KubeObject): ChartSpec | undefined {
  const { apiVersion, kind } = idOf(object)
  const full = `${groupOf(apiVersion)}/${kind}`
  if (full === KUSTOMIZATION) return artifactOf(object)
  const isRelease = full === HELM_RELEASE
  if (isRelease && at(object.root, ['spec', 'chartRef'])) {
    const source = named(object, ['spec', 'chartRef'])
    return source && { field: ['spec', 'chartRef', 'name'], source, valuesFiles: [] }
  }
  const template: Path = isRelease ? ['spec', 'chart', 'spec'] : ['spec']
  const source = named(object, [...template, 'sourceRef'])
  if (!source) return undefined
  const list = at(object.root, [...template, 'valuesFiles'])
  const files = list?.type === 'list' ? list.items.map(item => stringAt(item, [])) : []
  const all = [...files, stringAt(object.root, [...template, 'valuesFile'])]
  const path = stringAt(object.root, [...template, 'chart']) ?? ''
  return { field: [...template, 'chart'], source, path, valuesFiles: all.filter(one => one !== undefined) }
}

/** The content of other sources is rendered. */
function artifactOf(object: KubeObject): ChartSpec | undefined {
  const source = named(object, ['spec', 'sourceRef'])
  if (source?.kind !== EXTERNAL_ARTIFACT) return undefined
  return { field: ['spec', 'sourceRef', 'name'], source, valuesFiles: [] }
}

function named(object: KubeObject, path: Path): NamedObject | undefined {
  const [kind, name] = [stringAt(object.root, [...path, 'kind']), stringAt(object.root, [...path, 'name'])]
  if (!kind || !name) return undefined
  const namespace = stringAt(object.root, [...path, 'namespace']) || idOf(object).namespace
  return { kind: sourceNamed(kind), namespace, name }
}

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
type TreeOf = (place: Pick<ContentPlace, 'url' | 'ref'>) => Tree | undefined

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

const known = oncePerName<Tree, readonly string[] | 'unreadable'>()

/** The paths, relative to a chart, of the charts in git that it depends on. */
function dependenciesIn(tree: Tree, chart: string): readonly string[] | 'unreadable' {
  return known(tree, chart, () => readDependencies(tree, chart))
}

function readDependencies(tree: Tree, chart: string): readonly string[] | 'unreadable' {
  return unlessRefused('unreadable', () => {
    const files = DEPENDENCIES.map(name => inside(`${chart}/${name}`)).filter(path => tree.entry(path)?.type === 'file')
    const texts = files.flatMap(path =>
      parseDocuments({ repository: '', path }, tree.read(path)).flatMap(root => [...textsIn(root)]),
    )
    return texts.flatMap(text => localPaths(text))
  })
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

/** What in git makes the chart of a HelmRelease; undefined where it comes from elsewhere. */
export function deployedParts(
  release: KubeObject,
  objects: ClusterObjects,
  treeOf: TreeOf,
): readonly ChartPart[] | 'too-much' | undefined {
  try {
    const content = chartContent(release, objects)
    if (!content) return undefined
    const packing: ChartPart = { url: '', ref: '', path: '', id: content.packing }
    return [packing, ...chartParts(content, treeOf)]
  } catch (error) {
    if (error instanceof BailiwickError && ['render-limits', 'flux-unsupported'].includes(error.code)) return 'too-much'
    throw error
  }
}

/** A part of a repository that a chart is made of. */
interface ContentPlace {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly ref: SourceRef
  /** Without '.' and '..'; '' is the whole repository. */
  readonly path: string
}

/** What a chart is made of, as far as manifests say it. */
interface ChartContent {
  /** Places of a path below the source; a path that several sources may fill has several. */
  placesOf(path: string): readonly ContentPlace[]
  /** Charts, whose own dependencies count too. */
  readonly charts: readonly string[]
  readonly files: readonly string[]
  /** What else decides which files are packed, as text. */
  readonly packing: string
  /** Every source that takes part. */
  readonly sources: readonly Pick<ContentPlace, 'url' | 'ref'>[]
}

/** Objects of one cluster, as far as charts are concerned. */
export interface ClusterObjects {
  find(wanted: NamedObject): KubeObject | undefined
  /** The ArtifactGenerators of a namespace, those that make an artifact of that name at least. */
  generators(namespace: string, artifact: string): readonly KubeObject[]
  /** What the cluster's own root follows: a fleet need not hold the source that bootstrap makes. */
  readonly root: Pick<ContentPlace, 'url' | 'ref'> | undefined
  readonly aliases: Aliases
}

/** Sources that one chart may come from: what an ArtifactGenerator copies. */
const MAX_PARTS = 200

/**
 * The content in git of the chart that a HelmRelease deploys; undefined where it comes from elsewhere. Throws
 * `render-limits` for a chart of too many copies, `flux-unsupported` for a source that includes others.
 */
export function chartContent(release: KubeObject, objects: ClusterObjects): ChartContent | undefined {
  const own = chartSpecOf(release)
  const chart = own?.source.kind === HELM_CHART ? templateOf(objects.find(own.source)) : own
  if (!chart) return undefined
  const search: Search = { objects, left: MAX_PARTS, origin: originAt(release.root, own!.field) }
  if (chart.source.kind === EXTERNAL_ARTIFACT) return generated(chart.source, search)
  if (chart.source.kind !== GIT_REPOSITORY || chart.path === undefined) return undefined
  const part = partOf(chart.source, search)
  return (
    part && {
      placesOf: path => [placeIn(part, path)],
      charts: [inside(chart.path)],
      files: chart.valuesFiles.map(inside),
      packing: part.packing,
      sources: [part],
    }
  )
}

interface Search {
  readonly objects: ClusterObjects
  /** How many more parts may be found. */
  left: number
  readonly origin: Origin
}

const templateOf = (chart: KubeObject | undefined): ChartSpec | undefined => chart && chartSpecOf(chart)

/** A repository of which a chart is made. */
interface Part {
  readonly url: string
  readonly ref: SourceRef
  readonly packing: string
}

function partOf(named: NamedObject, search: Search): Part | undefined {
  const source = search.objects.find(named)
  const { root } = search.objects
  const isRoot = named.namespace === ROOT_NAMESPACE && named.name === ROOT_NAME
  if (isRoot && root && (!source || root.url === '')) return { ...root, packing: '' }
  const url = stringAt(source?.root, ['spec', 'url'])
  if (!source || !url) return undefined
  spend(search)
  try {
    contentSpec(source)
    const packing = ['ignore', 'sparseCheckout', 'recurseSubmodules'].map(field => {
      const value = at(source.root, ['spec', field])
      return value ? canonical(value) : ''
    })
    return { url: addressIn(search.objects.aliases, url), ref: sourceRefOf(source), packing: packing.join(' ') }
  } catch (error) {
    // a source that Flux refuses brings nothing
    if (error instanceof BailiwickError && error.code === 'flux-invalid') return undefined
    throw error
  }
}

function spend(search: Search): void {
  if (search.left-- > 0) return
  const details = { origin: search.origin, fix: 'Copy fewer paths.' }
  throw new BailiwickError('render-limits', `the chart is assembled from more than ${MAX_PARTS} sources`, details)
}

const placeIn = ({ url, ref }: Part, path: string): ContentPlace => ({ url, ref, path: inside(path) })

/** A path below a root that it cannot leave, as source-controller joins them (securejoin). */
function inside(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

/** What ArtifactGenerators copy into an ExternalArtifact (source-watcher, `spec.artifacts[].copy[].from`: `@alias/pattern`). */
function generated({ namespace, name }: NamedObject, search: Search): ChartContent | undefined {
  const copies = search.objects.generators(namespace, name).flatMap(object => copiesInto(object, name))
  const parts = copies.flatMap(({ source, from }) => {
    const part = source.kind === GIT_REPOSITORY ? partOf(source, search) : undefined
    return part ? [{ part, from }] : []
  })
  if (parts.length === 0) return undefined
  // where in the artifact a copy lands does not matter: all that is copied is the chart
  const charts = parts.map((_part, index) => `${index}`)
  return {
    placesOf: path => {
      const [index = '', ...rest] = path.split('/')
      const one = parts[Number(index)]
      return one ? [placeIn(one.part, [one.from, ...rest].join('/'))] : []
    },
    charts,
    files: [],
    packing: [...copies.map(copy => copy.packing), ...parts.map(({ part }) => part.packing)].join(' '),
    sources: parts.map(({ part }) => part),
  }
}

function copiesInto(generator: KubeObject, name: string) {
  const { namespace } = idOf(generator)
  const sources = new Map(
    items(generator, ['spec', 'sources']).map(path => {
      const text = (field: string) => stringAt(generator.root, [...path, field]) ?? ''
      const source = {
        kind: sourceNamed(text('kind')),
        namespace: text('namespace') || namespace,
        name: text('name'),
      }
      return [text('alias'), source] as const
    }),
  )
  const artifacts = items(generator, ['spec', 'artifacts'])
  return artifacts
    .filter(path => stringAt(generator.root, [...path, 'name']) === name)
    .flatMap(path => items(generator, [...path, 'copy']))
    .flatMap(path => {
      const [, alias = '', pattern = ''] =
        /^@([^/]*)\/?(.*)$/.exec(stringAt(generator.root, [...path, 'from']) ?? '') ?? []
      const source = sources.get(alias)
      const packing = canonical(at(generator.root, path)!)
      return source ? [{ source, from: withoutPattern(pattern), packing }] : []
    })
}

/** The directory that a pattern certainly stays in. */
function withoutPattern(pattern: string): string {
  const parts = inside(pattern).split('/')
  const first = parts.findIndex(part => /[*?[\]{}\\!]/.test(part))
  return (first < 0 ? parts : parts.slice(0, first)).join('/')
}

function items(object: KubeObject, path: readonly (string | number)[]): (string | number)[][] {
  const list = at(object.root, path)
  return list?.type === 'list' ? [...list.items.keys()].map(index => [...path, index]) : []
}
