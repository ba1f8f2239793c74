import { BailiwickError } from '../base/errors.ts'
import type { Cluster, Fleet, FleetNode } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { valuesOf } from '../kube/flux-kinds.ts'
import { stringAt } from '../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { normaliseUrl } from '../kube/source-address.ts'
import { openValues } from '../rules/secrets/open-values.ts'
import { encryptedDocuments, SOPS_CONFIG, SopsConfigs } from '../rules/secrets/sops-files.ts'
import { isSealed } from '../rules/secrets/sops-values.ts'

/** What a fleet's own repository shows of its tenants' credentials. Plain JSON, without values of Secrets. */
export interface CredentialReport {
  readonly sources: readonly SourceSecret[]
  /** Encrypted files whose recipients are not those of their creation rule. */
  readonly resealed: readonly OtherRecipients[]
  /** Secrets of the fleet's repository with a value that nothing encrypts. */
  readonly clear: readonly ClearSecret[]
  /** What could not be looked at, and why. */
  readonly notVisible: readonly string[]
}

/** A Secret in plain text in git, and where. */
interface ClearSecret {
  /** `Secret <namespace>/<name>`. */
  readonly object: string
  readonly file: string
  readonly line: number
}

/** An encrypted file, and how its recipients differ from those that `.sops.yaml` names today. */
interface OtherRecipients {
  readonly file: string
  readonly line: number
  /** Who can still open it although the rule does not name them. */
  readonly left: readonly string[]
  /** Whom the rule names and who cannot open it. */
  readonly missing: readonly string[]
}

/** Prefix of an entry in `notVisible` if encrypted files were not compared with `.sops.yaml`. */
const NOT_COMPARED = 'recipients of further encrypted files: '

/** Reports the credentials in a fleet whose repository, `tree`, is at `url`. */
export function credentialReport(fleet: Fleet, tree: Tree, url: string): CredentialReport {
  const notVisible = fleet.nodes
    .filter(node => node.error && node.tenant === undefined)
    .map(node => `${node.key}: its sources, because it cannot be rendered (${node.error!.code})`)
  return { sources: sourceSecrets(fleet, url), clear: clearSecrets(fleet), ...recipientsIn(tree, url, notVisible) }
}

function clearSecrets(fleet: Fleet): ClearSecret[] {
  const found = new Map<string, ClearSecret>()
  for (const object of fleet.nodes.flatMap(node => node.objects)) {
    const { root } = object
    const id = idOf(object)
    if (id.kind !== 'Secret' || groupOf(id.apiVersion) !== '') continue
    const isOpen = [...openValues(root, isSealed(object))].some(({ harmless }) => harmless === undefined)
    const { file, line } = root.origin
    if (isOpen) found.set(JSON.stringify([display(id), file, line]), { object: display(id), file, line })
  }
  return [...found.values()]
}

function recipientsIn(tree: Tree, url: string, before: readonly string[]) {
  const notVisible = [...before]
  const resealed: OtherRecipients[] = []
  const configs = new SopsConfigs(tree)
  const services = new Set<string>()
  try {
    for (const { file, root, recipients } of encryptedDocuments(tree, url)) {
      for (const one of recipients.keys()) if (!/^(?:age|pgp):/.test(one)) services.add(one)
      const rule = configs.ruleFor(file)
      if (!rule) {
        notVisible.push(`${file}: who should be able to open it, because no rule of ${SOPS_CONFIG} matches it`)
        continue
      }
      const left = [...recipients.keys()].filter(one => !rule.recipients.has(one)).sort()
      const missing = [...rule.recipients.keys()].filter(one => !recipients.has(one)).sort()
      if (left.length + missing.length > 0) resealed.push({ file, line: root.origin.line, left, missing })
    }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    notVisible.push(`${NOT_COMPARED}${error.message}`)
  }
  for (const one of [...services].sort()) notVisible.push(`${one}: who may use this key is known to its service only`)
  return { resealed, notVisible }
}

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
function sourceSecrets(fleet: Fleet, home: string): SourceSecret[] {
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
