import { BailiwickError } from '../../errors.ts'
import {
  apiVersionOf,
  FLUX_INSTANCE,
  GIT_REPOSITORY,
  KUSTOMIZATION,
  KUSTOMIZE_GROUP,
  SOURCE_GROUP,
} from '../../flux/kinds.ts'
import { renderKustomization } from '../../flux/render-kustomization.ts'
import type { Tree } from '../../git/tree.ts'
import { at, type MapNode, type Node, originAt, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-text.ts'
import type { Origin } from '../../origin.ts'
import { nodeOf } from '../model/synthetic.ts'
import { bootstrapComponents, bootstrapSync, COMPONENTS } from './bootstrap-components.ts'
import { profilePatches } from './instance-profiles.ts'
import { overlayTree } from './overlay-tree.ts'

/** Whether an object is a FluxInstance. */
export function isFluxInstance(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return `${groupOf(apiVersion)}/${kind}` === FLUX_INSTANCE
}

/** What a FluxInstance makes of the objects of Flux. */
interface InstalledFlux {
  readonly objects: readonly KubeObject[]
  /** `spec.distribution.version`, which may be a range. */
  readonly version?: string
}

/**
 * What the Flux Operator installs for the FluxInstance among the objects of a cluster, as far as flags and accounts go:
 * the least of Flux, patched by the profiles that `spec.cluster` asks for and by `spec.kustomize.patches`
 * (flux-operator, internal/builder). Undefined where there is none. Throws what its patches throw.
 */
export function installedFlux(objects: readonly KubeObject[]): InstalledFlux | undefined {
  const instance = objects.find(isFluxInstance)
  if (!instance) return undefined
  const { root } = instance
  const own = at(root, ['spec', 'kustomize', 'patches'])
  if (own && own.type !== 'list') {
    const details = { origin: own.origin, fix: 'Write spec.kustomize.patches as a list.' }
    throw new BailiwickError('flux-invalid', 'FluxInstance: spec.kustomize.patches is not a list', details)
  }
  const profile = nodeOf([...profilePatches(root)], root.origin)
  const patches = [...(profile.type === 'list' ? profile.items : []), ...(own?.items ?? [])]
  const spec = { type: 'map', fields: new Map(), origin: root.origin } as const
  const patched: MapNode = {
    ...spec,
    fields: new Map([['patches', { key: root.origin, value: { type: 'list', items: patches, origin: root.origin } }]]),
  }
  const kustomization: MapNode = { ...spec, fields: new Map([['spec', { key: root.origin, value: patched }]]) }
  const version = stringAt(root, ['spec', 'distribution', 'version'])
  const listed = componentsOf(instance)
  // whatever it lists, the two that apply for tenants have flags
  const isInstalled = (name: string) => listed.includes(name) || APPLIERS.includes(name)
  const files = new Map([
    ['components.yaml', bootstrapComponents(version, isInstalled)],
    ['sync.yaml', syncText(instance) ?? bootstrapSync('./')],
  ])
  const artifact = { repository: root.origin.repository, tree: overlayTree(EMPTY, files) }
  return {
    objects: renderKustomization(artifact, { root: kustomization, trail: [] }),
    ...(version === undefined ? {} : { version }),
  }
}

const APPLIERS = ['kustomize-controller', 'helm-controller']

/** The controllers that a FluxInstance installs. */
export function componentsOf({ root }: KubeObject): readonly string[] {
  const listed = textsOf(at(root, ['spec', 'components'])) ?? []
  return listed.length > 0 ? listed : COMPONENTS
}

/** The source and the Kustomization that the operator makes of `spec.sync`, patched as everything that it installs. */
export function installedSync(instance: KubeObject): { kustomization?: KubeObject; source?: KubeObject } {
  const text = syncText(instance)
  if (text === undefined) return {}
  const name = syncName(instance)
  const origin = originAt(instance.root, ['spec', 'sync'])
  const made = (installedFlux([instance])?.objects ?? []).filter(object => idOf(object).name === name)
  const find = (group: string) => {
    const object = made.find(one => groupOf(idOf(one).apiVersion) === group)
    return object && { root: placed(object.root, origin) as MapNode, trail: instance.trail }
  }
  const [kustomization, source] = [find(KUSTOMIZE_GROUP), find(SOURCE_GROUP)]
  return { ...(kustomization ? { kustomization } : {}), ...(source ? { source } : {}) }
}

/** What its lines are made of is nowhere in the repository: all of it is said by the FluxInstance. */
function placed(node: Node, origin: Origin): Node {
  if (node.type === 'list') return { ...node, items: node.items.map(item => placed(item, origin)), origin }
  if (node.type === 'scalar') return { ...node, origin }
  const fields = [...node.fields].map(
    ([key, { value }]) => [key, { key: origin, value: placed(value, origin) }] as const,
  )
  return { ...node, fields: new Map(fields), origin }
}

const syncName = ({ root }: KubeObject) =>
  stringAt(root, ['spec', 'sync', 'name']) || stringAt(root, ['metadata', 'namespace']) || 'flux-system'

/** The manifests of `spec.sync` (flux-operator, internal/builder/templates.go); undefined where there is none. */
function syncText(instance: KubeObject): string | undefined {
  const of = (field: string) => stringAt(instance.root, ['spec', 'sync', field]) ?? ''
  const kind = of('kind')
  if (kind === '') return undefined
  const metadata = {
    name: syncName(instance),
    namespace: stringAt(instance.root, ['metadata', 'namespace']) || 'flux-system',
  }
  const place =
    kind === 'Bucket'
      ? { bucketName: of('ref'), endpoint: of('url') }
      : { ref: kind === 'OCIRepository' ? { tag: of('ref') } : { name: of('ref') }, url: of('url') }
  const source = { apiVersion: apiVersionOf(GIT_REPOSITORY), kind, metadata, spec: { interval: '1m0s', ...place } }
  const spec = { interval: '10m0s', path: of('path'), prune: true, sourceRef: { kind, name: metadata.name } }
  const kustomization = { apiVersion: apiVersionOf(KUSTOMIZATION), kind: 'Kustomization', metadata, spec }
  return `${JSON.stringify(source)}\n---\n${JSON.stringify(kustomization)}\n`
}

const EMPTY: Tree = {
  id: '',
  entry: () => undefined,
  list: () => [],
  read: () => {
    throw new BailiwickError('git-missing', 'the tree is empty')
  },
}
