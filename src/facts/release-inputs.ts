import { chartSpecOf, type NamedObject } from '../fleet/charts/chart-of.ts'
import { fluxKind, HELM_CHART, HELM_RELEASE } from '../flux/kinds.ts'
import { at, canonical, itemsOf, type Node, type Path, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { hashOf } from './fingerprint.ts'
import { kindOf } from './kind-of.ts'
import type { ObjectIndex } from './object-index.ts'
import type { Rendered } from './object-table.ts'

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
  return all.map(one => ({ ...one, kind: kindOf(one.object), key: keyOf(one.object) }))
}

/** The first field in which an input is another one than before, as deep as both have it. */
export function changedField(was: KubeObject | undefined, now: KubeObject): Path {
  const [before, after] = [was?.root, now.root]
  const differs = (path: Path) => textAt(before, path) !== textAt(after, path)
  const fields = [...decidingFields(now), ...(was ? decidingFields(was) : [])]
  for (let path = fields.find(differs) ?? []; ; ) {
    const [old, young] = [at(before, path), at(after, path)]
    const names = old?.type === 'map' && young?.type === 'map' ? [...young.fields.keys(), ...old.fields.keys()] : []
    const next = names.find(name => differs([...path, name]))
    if (next === undefined) return path
    path = [...path, next]
  }
}

function keyOf(object: KubeObject): string {
  const { namespace, name } = idOf(object)
  const fields = decidingFields(object).flatMap(path => [JSON.stringify(path), textAt(object.root, path)])
  return hashOf([kindOf(object), namespace, name, ...fields])
}

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
