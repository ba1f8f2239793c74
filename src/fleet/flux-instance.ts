import { BailiwickError } from '../errors.ts'
import { renderKustomization } from '../flux/render-kustomization.ts'
import type { Tree } from '../git/tree.ts'
import { at, type MapNode, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { BOOTSTRAP_COMPONENTS, bootstrapSync } from './bootstrap-components.ts'
import { overlayTree } from './overlay-tree.ts'
import { nodeOf } from './synthetic.ts'

const REFERRING =
  '(kustomize-controller|helm-controller|notification-controller|image-reflector-controller|image-automation-controller|source-watcher)'

/** What a FluxInstance makes of the objects of Flux. */
export interface InstalledFlux {
  readonly objects: readonly KubeObject[]
  /** `spec.distribution.version`, which may be a range. */
  readonly version?: string
}

/**
 * What the Flux Operator installs for the FluxInstance among the objects of a cluster, as far as flags and accounts go:
 * the least of Flux, patched by the profile that `spec.cluster.multitenant` asks for and by `spec.kustomize.patches`
 * (flux-operator, internal/builder). Undefined where there is none. Throws what its patches throw.
 */
export function installedFlux(objects: readonly KubeObject[]): InstalledFlux | undefined {
  const instance = objects.find(object => {
    const { apiVersion, kind } = idOf(object)
    return kind === 'FluxInstance' && groupOf(apiVersion) === 'fluxcd.controlplane.io'
  })
  if (!instance) return undefined
  const { root } = instance
  const own = at(root, ['spec', 'kustomize', 'patches'])
  if (own && own.type !== 'list') {
    const details = { origin: own.origin, fix: 'Write a list there.' }
    throw new BailiwickError('flux-invalid', 'spec.kustomize.patches of the FluxInstance is no list', details)
  }
  const profile = nodeOf(multitenant(root), root.origin)
  const patches = [...(profile.type === 'list' ? profile.items : []), ...(own?.items ?? [])]
  const spec = { type: 'map', fields: new Map(), origin: root.origin } as const
  const patched: MapNode = {
    ...spec,
    fields: new Map([['patches', { key: root.origin, value: { type: 'list', items: patches, origin: root.origin } }]]),
  }
  const kustomization: MapNode = { ...spec, fields: new Map([['spec', { key: root.origin, value: patched }]]) }
  const files = new Map([
    ['components.yaml', BOOTSTRAP_COMPONENTS],
    ['sync.yaml', bootstrapSync('./')],
  ])
  const artifact = { repository: root.origin.repository, tree: overlayTree(EMPTY, files) }
  const version = stringAt(root, ['spec', 'distribution', 'version'])
  return {
    objects: renderKustomization(artifact, { root: kustomization, trail: [] }),
    ...(version === undefined ? {} : { version }),
  }
}

function multitenant(instance: MapNode) {
  const flag = at(instance, ['spec', 'cluster', 'multitenant'])
  if (flag?.type !== 'scalar' || flag.value !== true) return []
  const account = stringAt(instance, ['spec', 'cluster', 'tenantDefaultServiceAccount']) || 'default'
  const add = (path: string, value: string) => JSON.stringify([{ op: 'add', path, value }])
  const flagOf = (name: string, value: string) => ({
    target: { kind: 'Deployment', name },
    patch: add('/spec/template/spec/containers/0/args/-', value),
  })
  return [
    flagOf(REFERRING, '--no-cross-namespace-refs=true'),
    flagOf('kustomize-controller', '--no-remote-bases=true'),
    flagOf('(kustomize-controller|helm-controller)', `--default-service-account=${account}`),
    { target: { kind: 'Kustomization' }, patch: add('/spec/serviceAccountName', 'kustomize-controller') },
  ]
}

const EMPTY: Tree = {
  id: '',
  entry: () => undefined,
  list: () => [],
  read: () => {
    throw new BailiwickError('git-missing', 'the tree is empty')
  },
}
