import { fluxKind, HELM_RELEASE, sourceNamed } from '../flux/kinds.ts'
import { at, type Path, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { ObjectIndex } from './object-index.ts'
import { addressOf } from './source-fields.ts'

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
