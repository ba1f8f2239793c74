import { chartSpecOf, DEPLOYERS, type NamedObject } from '../fleet/charts/chart-of.ts'
import type { ChartPart } from '../fleet/charts/chart-parts.ts'
import { deployedParts } from '../fleet/charts/deployed-parts.ts'
import { refKey } from '../fleet/model/ref.ts'
import { ARTIFACT_GENERATOR, HELM_CHART, HELM_RELEASE } from '../flux/kinds.ts'
import type { Tree, TreeEntry } from '../git/tree.ts'
import { at, itemsOf, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { chartKey, sourceOfChart } from './chart-source.ts'
import type { Facts } from './facts.ts'
import { hashOf } from './fingerprint.ts'
import type { FleetAnswers } from './fleet-answers.ts'
import type { Naming } from './naming.ts'
import { releaseInputs } from './release-inputs.ts'

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
