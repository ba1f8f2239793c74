import { artifactPath } from '../../flux/artifact-path.ts'
import { apiVersionOf, GIT_REPOSITORY, KUSTOMIZATION, ROOT_NAME } from '../../flux/kinds.ts'
import type { MapNode } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'
import type { DeclaredCluster } from '../model/fleet-config.ts'
import { nodeOf } from '../model/synthetic.ts'
import type { UnnamedRoot } from './sync-roots.ts'

/**
 * The roots of a fleet with those that are declared: what was found in a folder keeps what it starts with, under the name
 * that is declared for it; a folder that nothing was found in starts as bootstrap would start it.
 */
export function withDeclared(found: readonly UnnamedRoot[], declared: readonly DeclaredCluster[]): UnnamedRoot[] {
  const named = declared.map((cluster): UnnamedRoot => {
    const path = artifactPath(cluster.path)
    const { name, origin } = cluster
    const declaration = { path, how: 'declared' as const, declared: name, ...(origin ? { origin } : {}) }
    const known = cluster.source ? undefined : found.find(root => root.path === path)
    if (known) return { ...known, ...declaration }
    return {
      ...declaration,
      file: origin?.file ?? path,
      ...(cluster.source && origin ? startOf(path, cluster.source, origin) : {}),
    }
  })
  const paths = new Set(named.map(({ path }) => path))
  return [...named, ...found.filter(({ path }) => !paths.has(path))]
}

/** What bootstrap writes for a source. */
function startOf(
  path: string,
  { url, ref }: NonNullable<DeclaredCluster['source']>,
  origin: Origin,
): { kustomization: KubeObject; source: KubeObject } {
  const metadata = { name: ROOT_NAME, namespace: ROOT_NAME }
  const sourceRef = { kind: 'GitRepository', name: ROOT_NAME }
  const source = {
    apiVersion: apiVersionOf(GIT_REPOSITORY),
    kind: 'GitRepository',
    metadata,
    spec: { url, ref: { ...ref } },
  }
  const spec = { path: `./${path}`, prune: true, sourceRef }
  const kustomization = { apiVersion: apiVersionOf(KUSTOMIZATION), kind: 'Kustomization', metadata, spec }
  const object = (value: typeof source | typeof kustomization) => ({
    root: nodeOf(value, origin) as MapNode,
    trail: [],
  })
  return { kustomization: object(kustomization), source: object(source) }
}
