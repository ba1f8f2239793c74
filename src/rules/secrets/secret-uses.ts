import { at, type Path, stringAt } from '../../kube/node.ts'
import type { FleetIndex } from '../index/fleet-index.ts'
import type { Naming } from '../index/naming.ts'
import { everyPath } from '../workloads/every-path.ts'

const SOURCE: readonly Path[] = ['secretRef', 'certSecretRef', 'proxySecretRef'].map(name => ['spec', name, 'name'])
const KUBECONFIG: readonly Path[] = [['spec', 'kubeConfig', 'secretRef', 'name']]

/** Where objects name a Secret that is a credential of another sort than a key of decryption, by `<group>/<Kind>`. */
const USES: ReadonlyMap<string, readonly Path[]> = new Map<string, readonly Path[]>([
  ['source.toolkit.fluxcd.io/GitRepository', [...SOURCE, ['spec', 'verify', 'secretRef', 'name']]],
  ['source.toolkit.fluxcd.io/OCIRepository', SOURCE],
  ['source.toolkit.fluxcd.io/HelmRepository', SOURCE],
  ['source.toolkit.fluxcd.io/Bucket', SOURCE],
  ['image.toolkit.fluxcd.io/ImageRepository', SOURCE],
  ['notification.toolkit.fluxcd.io/Provider', SOURCE],
  ['notification.toolkit.fluxcd.io/Receiver', SOURCE],
  ['kustomize.toolkit.fluxcd.io/Kustomization', KUBECONFIG],
  ['helm.toolkit.fluxcd.io/HelmRelease', KUBECONFIG],
  [
    '/ServiceAccount',
    [
      ['imagePullSecrets', '*', 'name'],
      ['secrets', '*', 'name'],
    ],
  ],
])

/** Kinds that fill a Secret of their own name, or of one that they say. */
const MAKERS: ReadonlyMap<string, Path | undefined> = new Map<string, Path | undefined>([
  ['/Secret', undefined],
  ['bitnami.com/SealedSecret', undefined],
  ['external-secrets.io/ExternalSecret', ['spec', 'target', 'name']],
  ['secrets.hashicorp.com/VaultStaticSecret', ['spec', 'destination', 'name']],
  ['secrets.hashicorp.com/VaultDynamicSecret', ['spec', 'destination', 'name']],
  ['cert-manager.io/Certificate', ['spec', 'secretName']],
])

const USED = new Map([...USES].map(([kind, patterns]) => [kind, naming('uses secret', patterns)]))
const MADE = new Map([...MAKERS].map(([kind, path]) => [kind, makes(path)]))

/** What else a Secret is used for: `GitRepository dev-team`; undefined where nothing in its namespace names it. */
export function otherUse(index: FleetIndex, cluster: string, namespace: string, name: string): string | undefined {
  for (const [kind, used] of USED) {
    const [first] = index.found(cluster, kind, namespace, used, name)
    if (first) {
      return `${kind.slice(kind.indexOf('/') + 1)} ${stringAt(first.object.root, ['metadata', 'name']) ?? ''}`
    }
  }
  return undefined
}

/** Whether the tenant itself renders a Secret of this name, or what makes one. */
export function isOwnSecret(
  index: FleetIndex,
  cluster: string,
  tenant: string,
  namespace: string,
  name: string,
): boolean {
  return [...MADE].some(([kind, made]) =>
    index.found(cluster, kind, namespace, made, name).some(({ node }) => node.tenant === tenant),
  )
}

function naming(id: string, patterns: readonly Path[]): Naming {
  const of: Naming['of'] = ({ object }) =>
    patterns.flatMap(pattern => everyPath(object.root, pattern)).flatMap(path => stringAt(object.root, path) ?? [])
  return { id, of }
}

function makes(path: Path | undefined): Naming {
  const of: Naming['of'] = ({ object }) => {
    const own = stringAt(object.root, ['metadata', 'name'])
    const made = path && at(object.root, path) ? stringAt(object.root, path) : own
    return made === undefined ? [] : [made]
  }
  return { id: 'makes secret', of }
}
