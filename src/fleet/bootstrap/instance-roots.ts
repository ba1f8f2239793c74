import { BailiwickError } from '../../errors.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import { isKustomizationKind } from '../../flux/flux-object.ts'
import { apiVersionOf, FLUX_INSTANCE, HELM_RELEASE, ROOT_NAMESPACE, sourceNamed } from '../../flux/kinds.ts'
import { at, type MapNode, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { nodeOf } from '../model/synthetic.ts'
import type { FluxFile } from './flux-files.ts'
import { installedSync } from './flux-instance.ts'
import { isNotACluster } from './not-a-cluster.ts'
import { folderOf, isWithin, SOURCES, type UnnamedRoot } from './sync-roots.ts'

/**
 * What the Flux Operator starts clusters with: the `sync` of each FluxInstance, as an object or as values of its chart
 * (`instance.sync` of a HelmRelease or of a file of values).
 */
export function instanceRoots(files: readonly FluxFile[]): UnnamedRoot[] {
  const targets = targetsOf(files)
  return files.flatMap(({ path: file, objects }) => {
    if (isNotACluster(folderOf(file))) return []
    return objects.flatMap(object => {
      const instance = instanceOf(object, targets.find(({ folder }) => isWithin(file, folder))?.namespace)
      const sync = at(instance?.root, ['spec', 'sync'])
      const path = stringAt(sync, ['path'])
      const isWhole = SOURCES.includes(sourceNamed(stringAt(sync, ['kind']))) && stringAt(sync, ['url']) !== undefined
      if (!instance || !sync || !isWhole || path === undefined || /[{}$]/.test(path)) return []
      const folder = artifactPath(path)
      if (isNotACluster(folder)) return []
      return [
        { path: folder, how: 'flux-instance' as const, origin: sync.origin, file, instance, ...startOf(instance) },
      ]
    })
  })
}

interface Target {
  readonly folder: string
  readonly namespace: string
}

/** The namespaces into which Kustomizations of Flux put what is in a folder, the deepest folder first. */
function targetsOf(files: readonly FluxFile[]): Target[] {
  const targets = files.flatMap(({ objects }) =>
    objects.flatMap(({ root }) => {
      const [path, namespace] = [stringAt(root, ['spec', 'path']), stringAt(root, ['spec', 'targetNamespace'])]
      const isKustomization = isKustomizationKind(
        groupOf(stringAt(root, ['apiVersion']) ?? ''),
        stringAt(root, ['kind']) ?? '',
      )
      if (!isKustomization || path === undefined || !namespace || /[{}$]/.test(path + namespace)) return []
      return [{ folder: artifactPath(path), namespace }]
    }),
  )
  return targets.sort((a, b) => b.folder.length - a.folder.length)
}

/** The FluxInstance that an object of a file is or makes; `placed`: the namespace that it is applied to. */
function instanceOf(object: KubeObject, placed: string | undefined): KubeObject | undefined {
  const { apiVersion, kind, namespace } = idOf(object)
  const group = groupOf(apiVersion)
  if (`${group}/${kind}` === FLUX_INSTANCE) return object
  if (`${group}/${kind}` === HELM_RELEASE) {
    const target = stringAt(object.root, ['spec', 'targetNamespace']) || placed || namespace
    return ofChart(object, at(object.root, ['spec', 'values', 'instance']), target)
  }
  return apiVersion === '' && kind === '' ? ofChart(object, at(object.root, ['instance']), '') : undefined
}

/** What the chart flux-instance makes of its values: the same fields under the same names. */
function ofChart(
  { root, trail }: KubeObject,
  values: ReturnType<typeof at>,
  namespace: string,
): KubeObject | undefined {
  if (values?.type !== 'map') return undefined
  const head = nodeOf(
    {
      apiVersion: apiVersionOf(FLUX_INSTANCE),
      kind: 'FluxInstance',
      metadata: { name: 'flux', namespace: namespace || ROOT_NAMESPACE },
    },
    root.origin,
  ) as MapNode
  return {
    root: { ...head, fields: new Map([...head.fields, ['spec', { key: values.origin, value: values }]]) },
    trail,
  }
}

/** Where its patches are wrong, the root starts as if there were none, and what renders them gets the error. */
function startOf(instance: KubeObject): ReturnType<typeof installedSync> {
  try {
    return installedSync(instance)
  } catch (error) {
    if (error instanceof BailiwickError) return {}
    throw error
  }
}
