import { at, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Rendered } from './object-table.ts'

/** A kind whose objects show the version that a cluster runs. */
interface VersionSource {
  /** `<group>/<Kind>`. */
  readonly kind: string
  readonly version: Path
  /** Whether the version applies to the cluster of the object (`own`) or to the cluster that the object names (`named`). */
  readonly of: 'own' | 'named'
  /** A text that the object must contain, because the same kind also describes other upgrades. */
  readonly only?: readonly [path: Path, text: RegExp]
  /** Path of the cluster's name; default `metadata.name`. */
  readonly name?: Path
}

const SOURCES: readonly VersionSource[] = [
  {
    kind: 'upgrade.cattle.io/Plan',
    version: ['spec', 'version'],
    of: 'own',
    only: [['spec', 'upgrade', 'image'], /(?:^|\/)(?:k3s|rke2)-upgrade(?:[:@]|$)/],
  },
  { kind: 'tuppr.home-operations.com/KubernetesUpgrade', version: ['spec', 'kubernetes', 'version'], of: 'own' },
  { kind: 'cluster.x-k8s.io/Cluster', version: ['spec', 'topology', 'version'], of: 'named' },
  { kind: 'controlplane.cluster.x-k8s.io/KubeadmControlPlane', version: ['spec', 'version'], of: 'named' },
  { kind: 'controlplane.cluster.x-k8s.io/TalosControlPlane', version: ['spec', 'version'], of: 'named' },
  { kind: 'controlplane.cluster.x-k8s.io/RKE2ControlPlane', version: ['spec', 'version'], of: 'named' },
  { kind: 'controlplane.cluster.x-k8s.io/AWSManagedControlPlane', version: ['spec', 'version'], of: 'named' },
  { kind: 'infrastructure.cluster.x-k8s.io/AzureManagedControlPlane', version: ['spec', 'version'], of: 'named' },
  { kind: 'eks.services.k8s.aws/Cluster', version: ['spec', 'version'], of: 'named', name: ['spec', 'name'] },
  { kind: 'eks.aws.upbound.io/Cluster', version: ['spec', 'forProvider', 'version'], of: 'named' },
  { kind: 'container.cnrm.cloud.google.com/ContainerCluster', version: ['spec', 'minMasterVersion'], of: 'named' },
  { kind: 'containerservice.azure.com/ManagedCluster', version: ['spec', 'kubernetesVersion'], of: 'named' },
]

/** Platform objects of a kind (`<group>/<Kind>`) on a cluster. */
type ObjectsOf = (cluster: string, kind: string) => readonly Rendered[]

/** The number of minor versions by which a node may lag behind its API server during an upgrade. */
const NODE_LAG = 1

/**
 * The minor version of Kubernetes that a cluster runs according to its objects; undefined if no object shows it or if they
 * contradict each other. No component is newer than the API server, so the higher of two adjacent versions is the API server's
 * (https://kubernetes.io/releases/version-skew-policy/).
 */
export function runningVersion(minors: readonly number[]): number | undefined {
  const newest = minors.reduce((most, one) => Math.max(most, one), 0)
  return minors.length > 0 && minors.every(one => one >= newest - NODE_LAG) ? newest : undefined
}

/** Versions according to the objects that are applied to the cluster itself. */
export const ownVersions = (cluster: string, objects: ObjectsOf): number[] =>
  SOURCES.filter(({ of }) => of === 'own').flatMap(source =>
    objects(cluster, source.kind).flatMap(({ object }) => versionIn(object, source)),
  )

/** Versions according to objects that name another cluster, or that Cluster API creates a kubeconfig for. */
export function namedVersions(clusters: readonly string[], objects: ObjectsOf): ReadonlyMap<string, number[]> {
  const all = new Map<string, number[]>()
  for (const source of SOURCES.filter(({ of }) => of === 'named')) {
    for (const from of clusters) {
      for (const { object } of objects(from, source.kind)) {
        const versions = versionIn(object, source)
        for (const name of namesIn(object, source, from)) all.set(name, [...(all.get(name) ?? []), ...versions])
      }
    }
  }
  return all
}

/** Examples: `v1.36.4`, `1.33.1+k3s1`, `1.32`. */
const VERSION = /^v?1\.(\d{1,3})(?:[.+-]|$)/

function versionIn(object: KubeObject, { version, only }: VersionSource): number[] {
  if (only && !only[1].test(stringAt(object.root, only[0]) ?? '')) return []
  const node = at(object.root, version)
  if (node?.type !== 'scalar' || node.opaque) return []
  // YAML reads an unquoted 1.30 as the number 1.3, so the source text is needed
  const text = node.text ?? String(node.value)
  const match = VERSION.exec(text)
  return match ? [Number(match[1])] : []
}

/** Names of the cluster that an object on cluster `from` describes. */
function namesIn(object: KubeObject, { name }: VersionSource, from: string): string[] {
  const { namespace, name: own } = idOf(object)
  const clusterName = name ? (stringAt(object.root, name) ?? own) : own
  return [clusterName, `${from} -> kubeconfig ${namespace}/${clusterName}-kubeconfig`]
}
