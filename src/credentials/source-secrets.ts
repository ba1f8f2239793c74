import type { Cluster, Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { valuesOf } from '../flux/kinds.ts'
import { stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { normaliseUrl } from '../kube/url.ts'
import { isSealed } from '../rules/secrets/support/sops.ts'

/** A source of a tenant that the platform declares, and the Secret with which a cluster reads it. */
export interface SourceSecret {
  readonly tenant: string
  readonly cluster: string
  /** `<Kind> <namespace>/<name>`. */
  readonly source: string
  /** As it is declared. */
  readonly address: string
  /** Normalized. */
  readonly url: string
  /** `<namespace>/<name>`; absent: it is read without credentials. */
  readonly secret?: string
  /** `clear`: with values that SOPS did not encrypt. `missing`: the platform renders none; it is made by hand on the cluster. */
  readonly state: 'none' | 'sealed' | 'clear' | 'missing'
  /** File and line of the fleet's repository; absent where it has no Secret, or another repository has it. */
  readonly file?: string
  readonly line?: number
}

const SOURCES = valuesOf(row => row.source && row.plural)

/** The sources of all tenants on all clusters, as far as the fleet's own repository declares them; sorted. */
export function sourceSecrets(fleet: Fleet, home: string): SourceSecret[] {
  const found = fleet.clusters.flatMap(cluster => {
    const objects = fleet.nodes.filter(node => placeOf(node) === cluster.name).flatMap(node => node.objects)
    return ofCluster(cluster, objects, normaliseUrl(home))
  })
  return found.sort((a, b) => compare(keyOf(a), keyOf(b)))
}

const placeOf = (node: FleetNode) => node.hub ?? node.cluster
const keyOf = ({ tenant, cluster, source }: SourceSecret) => JSON.stringify([tenant, cluster, source])
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function ofCluster(cluster: Cluster, objects: readonly KubeObject[], home: string): SourceSecret[] {
  const secrets = new Map<string, KubeObject>()
  for (const object of objects) {
    const { apiVersion, kind, namespace, name } = idOf(object)
    if (kind === 'Secret' && groupOf(apiVersion) === '') secrets.set(`${namespace}/${name}`, object)
  }
  return objects.flatMap((object): SourceSecret[] => {
    const { apiVersion, kind, namespace, name } = idOf(object)
    const tenant = cluster.owners?.get(namespace)
    const address = stringAt(object.root, ['spec', 'url']) ?? stringAt(object.root, ['spec', 'endpoint'])
    if (!SOURCES.has(`${groupOf(apiVersion)}/${kind}`) || tenant === undefined || address === undefined) return []
    const secretName = stringAt(object.root, ['spec', 'secretRef', 'name'])
    const common = { tenant, cluster: cluster.name, source: `${kind} ${namespace}/${name}` }
    const place = { ...common, address, url: normaliseUrl(address) }
    if (secretName === undefined) return [{ ...place, state: 'none' }]
    const secret = `${namespace}/${secretName}`
    return [{ ...place, secret, ...stateOf(secrets.get(secret), home) }]
  })
}

function stateOf(secret: KubeObject | undefined, home: string): Pick<SourceSecret, 'state' | 'file' | 'line'> {
  if (!secret) return { state: 'missing' }
  const { repository, file, line } = secret.root.origin
  const place = file !== '' && (repository === '' || normaliseUrl(repository) === home) ? { file, line } : {}
  return { state: isSealed(secret) ? 'sealed' : 'clear', ...place }
}
