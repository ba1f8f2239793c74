import { BailiwickError } from '../../errors.ts'
import {
  EXTERNAL_ARTIFACT,
  GIT_REPOSITORY,
  HELM_CHART,
  ROOT_NAME,
  ROOT_NAMESPACE,
  sourceNamed,
} from '../../flux/kinds.ts'
import { at, canonical, originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'
import { type Aliases, addressIn } from '../model/address-in.ts'
import type { SourceRef } from '../model/source-ref.ts'
import { sourceRefOf } from '../sources/resolve-source.ts'
import { contentSpec } from '../sources/source-content.ts'
import { type ChartSpec, chartSpecOf, type NamedObject } from './chart-of.ts'

/** A part of a repository that a chart is made of. */
export interface ContentPlace {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly ref: SourceRef
  /** Without '.' and '..'; '' is the whole repository. */
  readonly path: string
}

/** What a chart is made of, as far as manifests say it. */
export interface ChartContent {
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

/** How deep sources may include each other; source-controller refuses circles. */
const MAX_INCLUDES = 5
/** Sources that one chart may come from: includes of includes could double them again and again. */
const MAX_PARTS = 200

/**
 * The content in git of the chart that a HelmRelease deploys; undefined where it comes from elsewhere. Throws
 * `render-limits` for a chart of too many sources.
 */
export function chartContent(release: KubeObject, objects: ClusterObjects): ChartContent | undefined {
  const own = chartSpecOf(release)
  const chart = own?.source.kind === HELM_CHART ? templateOf(objects.find(own.source)) : own
  if (!chart) return undefined
  const search: Search = { objects, left: MAX_PARTS, origin: originAt(release.root, own!.field) }
  if (chart.source.kind === EXTERNAL_ARTIFACT) return generated(chart.source, search)
  if (chart.source.kind !== GIT_REPOSITORY || chart.path === undefined) return undefined
  const parts = partsOf(chart.source, search, 0)
  if (parts.length === 0) return undefined
  return {
    placesOf: path => parts.flatMap(part => placeIn(part, inside(path))),
    charts: [inside(chart.path)],
    files: chart.valuesFiles.map(inside),
    packing: parts.map(part => part.packing).join(' '),
    sources: parts,
  }
}

interface Search {
  readonly objects: ClusterObjects
  /** How many more parts may be found. */
  left: number
  readonly origin: Origin
}

const templateOf = (chart: KubeObject | undefined): ChartSpec | undefined => chart && chartSpecOf(chart)

/** A repository as a part of what a source packs: its `from` stands at `to`. */
interface Part {
  readonly url: string
  readonly ref: SourceRef
  readonly from: string
  readonly to: string
  readonly packing: string
}

function partsOf(named: NamedObject, search: Search, depth: number): Part[] {
  const source = search.objects.find(named)
  const { root } = search.objects
  const isRoot = named.namespace === ROOT_NAMESPACE && named.name === ROOT_NAME
  if (isRoot && root && (!source || root.url === '')) return [{ ...root, from: '', to: '', packing: '' }]
  const url = stringAt(source?.root, ['spec', 'url'])
  if (!source || !url || depth > MAX_INCLUDES) return []
  spend(search)
  try {
    const packing = ['ignore', 'sparseCheckout', 'include', 'recurseSubmodules'].map(field => {
      const value = at(source.root, ['spec', field])
      return value ? canonical(value) : ''
    })
    const own = {
      url: addressIn(search.objects.aliases, url),
      ref: sourceRefOf(source),
      from: '',
      to: '',
      packing: packing.join(' '),
    }
    const included = contentSpec(source).include.flatMap(({ name, fromPath, toPath }) => {
      const other = { kind: GIT_REPOSITORY, namespace: named.namespace, name }
      return partsOf(other, search, depth + 1).flatMap(part => moved(part, inside(fromPath), inside(toPath)))
    })
    return [own, ...included]
  } catch (error) {
    // a source that Flux refuses brings nothing
    if (error instanceof BailiwickError && error.code === 'flux-invalid') return []
    throw error
  }
}

function spend(search: Search): void {
  if (search.left-- > 0) return
  const details = { origin: search.origin, fix: 'Include fewer sources.' }
  throw new BailiwickError('render-limits', `the chart is assembled from more than ${MAX_PARTS} sources`, details)
}

/** A part of an included source, of which `from` is put at `to`. */
function moved(part: Part, from: string, to: string): Part[] {
  const rest = isBelow(part.to, from) ? part.to.slice(from.length) : ''
  return placeIn(part, from).map(({ path }) => ({ ...part, from: path, to: inside(`${to}/${rest}`) }))
}

/** Where the files at `path` of the packed source come from in a part; nowhere, one place, or all of the part. */
function placeIn({ url, ref, from, to }: Part, path: string): ContentPlace[] {
  if (isBelow(path, to)) return [{ url, ref, path: inside(`${from}/${path.slice(to.length)}`) }]
  return isBelow(to, path) ? [{ url, ref, path: from }] : []
}

const isBelow = (path: string, directory: string): boolean =>
  directory === '' || path === directory || path.startsWith(`${directory}/`)

/** A path below a root that it cannot leave, as source-controller joins them (securejoin). */
export function inside(path: string): string {
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
    const all = source.kind === GIT_REPOSITORY ? partsOf(source, search, 0) : []
    return all.map(part => ({ part, from }))
  })
  if (parts.length === 0) return undefined
  // where in the artifact a copy lands does not matter: all that is copied is the chart
  const charts = parts.map((_part, index) => `${index}`)
  return {
    placesOf: path => {
      const [index = '', ...rest] = path.split('/')
      const one = parts[Number(index)]
      return one ? placeIn(one.part, inside([one.from, ...rest].join('/'))) : []
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
