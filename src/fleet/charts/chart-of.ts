import { EXTERNAL_ARTIFACT, HELM_RELEASE, KUSTOMIZATION, sourceNamed } from '../../flux/kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'

/** An object of a cluster as another one names it. */
export interface NamedObject {
  /** `<group>/<Kind>`. */
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The chart that a HelmRelease or a HelmChart asks for. */
export interface ChartSpec {
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
