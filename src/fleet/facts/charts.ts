import { oncePer } from '../../base/once-per.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import {
  ARTIFACT_GENERATOR,
  fluxKind,
  HELM_CHART,
  HELM_RELEASE,
  OCI_REPOSITORY,
  sourceNamed,
} from '../../kube/flux-kinds.ts'
import { at, canonical, changedPath, itemsOf, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { refKey } from '../model/source-ref.ts'
import { type ChartPart, chartSpecOf, DEPLOYERS, deployedParts, type NamedObject } from '../sources/charts.ts'
import type { Facts } from './facts.ts'
import { hashOf } from './fingerprint.ts'
import type { FleetAnswers, ObjectIndex } from './object-index.ts'
import { kindOf, type Naming, type Rendered } from './object-table.ts'
import { addressOf } from './sources.ts'

/** What chart an object deploys. */
interface ChartSource {
  readonly path: Path
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string }
  /** Name or path of the chart; '' where the source is the chart. */
  readonly name: string
  readonly isOpaqueKind: boolean
}

/** The chart of a HelmRelease or a HelmChart; undefined where it names none. */
export function sourceOfChart(object: KubeObject, kind: string): ChartSource | undefined {
  const { namespace } = idOf(object)
  const isRelease = kind === HELM_RELEASE
  const template = isRelease ? ['spec', 'chart', 'spec'] : ['spec']
  const path = isRelease && at(object.root, ['spec', 'chartRef']) ? ['spec', 'chartRef'] : [...template, 'sourceRef']
  const reference = at(object.root, path)
  const [source, name] = [stringAt(reference, ['kind']), stringAt(reference, ['name'])]
  if (!source || !name) return undefined
  const chart = path.at(-1) === 'chartRef' ? '' : (stringAt(object.root, [...template, 'chart']) ?? '')
  return {
    path: chart === '' ? path : [...template, 'chart'],
    source: { kind: source, namespace: stringAt(reference, ['namespace']) || namespace, name },
    name: chart,
    isOpaqueKind: !['git', 'index'].includes(fluxKind(sourceNamed(source))?.source ?? ''),
  }
}

/** One text for one chart, whatever object stands for its source. */
export function chartKey(index: ObjectIndex, cluster: string, { source, name }: ChartSource): string {
  const kind = sourceNamed(source.kind)
  const [found] = index.versionsOf(cluster, kind, source.namespace, source.name)
  const address = found && addressOf(kind, found.object)?.address
  const from = typeof address === 'object' ? address.text : `${source.kind} ${source.namespace}/${source.name}`
  return name === '' ? from : `${name} of ${from}`
}

/** The releases of a chart among the platform's objects of a cluster, by its name or that of its OCI repository, each with its version as written. */
export function releasesOf<One extends Pick<Rendered, 'object'>>(
  platform: (kind: string) => readonly One[],
  chart: string,
) {
  return platform(HELM_RELEASE).flatMap(rendered => {
    const { object } = rendered
    const template = at(object.root, ['spec', 'chart', 'spec'])
    if (stringAt(template, ['chart']) === chart) return [{ rendered, version: stringAt(template, ['version']) }]
    const named = sourceOfChart(object, HELM_RELEASE)?.source
    const source = platform(OCI_REPOSITORY).find(one => {
      const { namespace, name } = idOf(one.object)
      return name === named?.name && namespace === named.namespace
    })?.object.root
    if (!stringAt(source, ['spec', 'url'])?.endsWith(`/${chart}`)) return []
    const version = stringAt(source, ['spec', 'ref', 'tag']) ?? stringAt(source, ['spec', 'ref', 'semver'])
    return [{ rendered, version }]
  })
}

/** The names of the artifacts that a generator makes. */
const MAKES: Naming = {
  id: 'makes artifact',
  of: ({ object }) => {
    return itemsOf(at(object.root, ['spec', 'artifacts'])).flatMap(item => stringAt(item, ['name']) ?? [])
  },
}

/** What in git makes the chart that a HelmRelease of a node deploys. */
export function chartPartsOf(
  index: FleetAnswers,
  facts: Facts,
  node: string,
  release: KubeObject,
): ReturnType<typeof deployedParts> {
  const by = facts.node(node)
  const cluster = by?.cluster ?? ''
  const objects = {
    find: ({ kind, namespace, name }: NamedObject) => index.versionsOf(cluster, kind, namespace, name)[0]?.object,
    generators: (namespace: string, artifact: string) =>
      index.found(cluster, ARTIFACT_GENERATOR, namespace, MAKES, artifact).map(({ object }) => object),
    root: facts.ownSource(),
    aliases: facts.aliases(),
  }
  // what was not read for this tenant is not there, though the fleet reads it for another one
  const isTenants = by?.tenant !== undefined || index.ownerOf(cluster, idOf(release).namespace) !== undefined
  const read = new Set(
    (by?.charts ?? []).flatMap(one => (one.opaque === undefined ? [`${one.url} ${refKey(one.ref)}`] : [])),
  )
  return deployedParts(release, objects, ({ url, ref }) =>
    isTenants && !read.has(`${url} ${refKey(ref)}`) ? undefined : facts.content(url, refKey(ref)),
  )
}

/** One text for what makes a chart: equal where nothing of it is another. */
export function contentKey(parts: readonly ChartPart[]): string {
  return hashOf(parts.flatMap(({ url, ref, path, id }) => [url, ref, path, id ?? 'not visible']))
}

/**
 * `<kind> <chartKey>` of every release and HelmChart of a namespace, `content <contentKey>` of what releases deploy, and
 * `input <key>` of what decides it.
 */
export function knownChartsOf(index: FleetAnswers, cluster: string, namespace: string): ReadonlySet<string> {
  const known = new Set<string>()
  for (const kind of [...DEPLOYERS, HELM_CHART]) {
    for (const one of index.rendered(cluster, kind, namespace)) {
      const { node, object } = one
      const chart = chartSpecOf(object) && sourceOfChart(object, kind)
      if (chart) known.add(`${kind} ${chartKey(index, cluster, chart)}`)
      const parts = kind === HELM_CHART ? undefined : index.chartParts(node.key, object)
      if (Array.isArray(parts)) known.add(`content ${contentKey(parts)}`)
      if (kind === HELM_RELEASE) for (const { key } of releaseInputs(index, one)) known.add(`input ${key}`)
    }
  }
  return known
}

/** The entries of a directory, or the file at a path itself. */
export function entriesAt(tree: Tree | undefined, path: string): readonly TreeEntry[] {
  const entry = tree?.entry(path)
  return entry && entry.type !== 'directory' ? [{ ...entry }] : (tree?.list(path) ?? [])
}

/** What decides which objects a HelmRelease creates: itself, or an object that it names. */
interface ReleaseInput extends Rendered {
  /** `<group>/<Kind>`. */
  readonly kind: string
  /** Equal where nothing changed that decides. */
  readonly key: string
}

const OF_RELEASE = new Set(['chartRef', 'values', 'valuesFrom', 'postRenderers', 'targetNamespace'])
const OF_VALUES = new Set(['data', 'stringData', 'binaryData'])
/** How often a chart is looked for changes nothing of it. */
const TIMING = new Set(['interval', 'timeout', 'suspend'])

/**
 * A HelmRelease, and the source, HelmChart, ConfigMaps and Secrets that it takes its chart and values from. Content in
 * git has its own ids: see chartParts.
 */
export function releaseInputs(index: ObjectIndex, release: Rendered): ReleaseInput[] {
  const found = ({ kind, namespace, name }: NamedObject) =>
    index.versionsOf(release.node.cluster, kind, namespace, name)
  const sources = sourcesOf(release).flatMap(found)
  const behind = sources.filter(({ object }) => kindOf(object) === HELM_CHART).flatMap(sourcesOf)
  const all = [release, ...sources, ...behind.flatMap(found), ...valuesOf(release).flatMap(found)]
  return all.map(one => ({ node: one.node, object: one.object, ...inputOf(one.object) }))
}

/** The first field in which an input is another one than before, as deep as both have it. */
export function changedField(was: KubeObject | undefined, now: KubeObject): Path {
  const [before, after] = [was?.root, now.root]
  const differs = (path: Path) => textAt(before, path) !== textAt(after, path)
  const fields = [...decidingFields(now), ...(was ? decidingFields(was) : [])]
  const start = fields.find(differs) ?? []
  const [old, young] = [at(before, start), at(after, start)]
  return old && young ? [...start, ...changedPath(old, young)] : start
}

/** Once for an object, which many releases may name. */
const inputOf = oncePer((object: KubeObject) => {
  const { namespace, name } = idOf(object)
  const fields = decidingFields(object).flatMap(path => [JSON.stringify(path), textAt(object.root, path)])
  const kind = kindOf(object)
  return { kind, key: hashOf([kind, namespace, name, ...fields]) }
})

const textAt = (root: Node | undefined, path: Path): string => {
  const node = at(root, path)
  return node ? canonical(node) : ''
}

function decidingFields(object: KubeObject): Path[] {
  const { root } = object
  const below = (path: Path, counts: (name: string) => boolean): Path[] => {
    const map = at(root, path)
    const names = map?.type === 'map' ? [...map.fields.keys()].sort() : []
    return names.filter(counts).map(name => [...path, name])
  }
  const isTimeless = (name: string) => !TIMING.has(name)
  if (kindOf(object) !== HELM_RELEASE) {
    return [...below(['spec'], isTimeless), ...below([], name => OF_VALUES.has(name))]
  }
  return [...below(['spec', 'chart', 'spec'], isTimeless), ...below(['spec'], name => OF_RELEASE.has(name))]
}

function sourcesOf({ object }: Rendered): NamedObject[] {
  const source = chartSpecOf(object)?.source
  return source === undefined || fluxKind(source.kind)?.source === 'git' ? [] : [source]
}

function valuesOf({ object }: Rendered): NamedObject[] {
  return itemsOf(at(object.root, ['spec', 'valuesFrom'])).map(item => ({
    kind: `/${stringAt(item, ['kind'])}`,
    namespace: idOf(object).namespace,
    name: stringAt(item, ['name']) ?? '',
  }))
}
