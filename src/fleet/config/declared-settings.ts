import { apiVersionOf, GIT_REPOSITORY } from '../../kube/flux-kinds.ts'
import type { MapNode } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import type { FleetConfig, TenantConfig } from '../model/fleet-config.ts'
import { nodeOf } from '../model/kustomization-spec.ts'
import { membersOf } from '../tenancy/delegated.ts'

/** What the fleet's file says of a tenant, or of each of several; undefined: nothing. */
export const memberSettings = (
  { tenants }: Pick<FleetConfig, 'tenants'>,
  tenant: string | undefined,
): readonly (TenantConfig | undefined)[] => membersOf(tenant ?? '').map(name => tenants.get(name))

/** Whether findings about a tenant, or about all of several, are only reported. */
export const isReported = (config: FleetConfig, tenant: string | undefined): boolean =>
  memberSettings(config, tenant).every(one => (one?.enforcement ?? config.enforcement) === 'report')

/** How a pattern of addresses looks. No `*` in the host: it could match any host. */
export const sourcePattern = {
  pattern:
    /^(?:(?:https?|ssh|oci):\/\/(?:[\w.-]{1,60}@)?|[\w.-]{1,60}@)[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?[/:][^\s?#]{1,500}$/,
  allowed:
    'a pattern of addresses, such as https://github.com/acme/* (`*` within one part of the path, `**` or a trailing slash for any rest)',
}

/** The patterns that hold for a tenant, or for several, each list of which must allow an address; none: any address. */
export function allowedSourcesOf(config: FleetConfig, tenant: string): readonly (readonly string[])[] {
  return memberSettings(config, tenant).flatMap(settings => {
    const fleets = settings?.allowedSources ?? config.allowedSources
    return [...(fleets ? [fleets] : []), ...(settings?.own?.allowedSources ?? [])]
  })
}

/** Whether a tenant may deploy from an address, whatever spelling of it. */
export function allowsSource(config: FleetConfig, tenant: string, url: string): boolean {
  return allowedSourcesOf(config, tenant).every(patterns => patterns.some(pattern => matchesSource(pattern, url)))
}

/**
 * Whether a pattern stands for an address. Both are normalised first (https, ssh and scp forms, `.git`, the case of the
 * host), then compared part by part; what is not an address of a repository matches nothing.
 */
export function matchesSource(pattern: string, url: string): boolean {
  const [wanted, given] = [plain(pattern.endsWith('/') ? `${pattern}**` : pattern), plain(url)]
  if (wanted === undefined || given === undefined) return false
  const [patterns, parts] = [wanted.split('/'), given.split('/')]
  const anyRest = patterns.at(-1) === '**'
  const fixed = anyRest ? patterns.slice(0, -1) : patterns
  if (anyRest ? parts.length <= fixed.length : parts.length !== fixed.length) return false
  return fixed.every((one, index) => matchesPart(one, parts[index]!)) && parts.every(part => part !== '')
}

/** A port of GitHub's host on which GitHub does not answer: the same repository by name, and nothing that a fleet allows. */
const ODD_PORT = /^[a-z+]+:\/\/(?:[^/@]*@)?(?:[\w-]+\.)?github\.com:(?!(?:22|443)\/)/i

/** `host/path` of an address, with the protocol before it where that is not that of a git repository. */
function plain(url: string): string | undefined {
  const oci = /^oci:\/\/([^/?#@\s]+)\/([^?#@\s]+)$/.exec(url)
  if (oci) return `oci:${oci[1]!.toLowerCase()}/${oci[2]!.replace(/\/+$/, '')}`
  if (/[?#]/.test(url) || ODD_PORT.test(url)) return undefined
  const normal = normaliseUrl(url)
  return normal.startsWith('https://') && !/[?#@\s]/.test(normal) ? normal.slice('https://'.length) : undefined
}

/** `*` is any text within one part. Looks for the pieces from left to right, so it never goes back. */
function matchesPart(pattern: string, part: string): boolean {
  const [first = '', ...pieces] = pattern.split('*')
  if (pieces.length === 0) return pattern === part
  if (!part.startsWith(first)) return false
  let from = first.length
  for (const [index, piece] of pieces.entries()) {
    const last = index === pieces.length - 1
    const at = last ? part.length - piece.length : part.indexOf(piece, from)
    if (at < from || !part.startsWith(piece, at)) return false
    from = at + piece.length
  }
  return true
}

/** The sources of a cluster that its fleet's file declares, as objects by `<Kind>/<namespace>/<name>`. */
export function declaredSources({ sources }: FleetConfig, cluster: string): ReadonlyMap<string, KubeObject> {
  const here = sources.filter(({ clusters }) => clusters === undefined || clusters.includes(cluster))
  return new Map(
    here.map(({ kind, namespace, name, url, ref, origin }) => {
      const apiVersion = apiVersionOf(GIT_REPOSITORY)
      const spec = { url, ...(Object.keys(ref).length > 0 ? { ref: { ...ref } } : {}) }
      const root = nodeOf({ apiVersion, kind, metadata: { name, namespace }, spec }, origin) as MapNode
      return [`${kind}/${namespace}/${name}`, { root, trail: [] }]
    }),
  )
}

/**
 * Whether the fleet says that something on the cluster makes this service account. `ofTenant`: the namespace is one of a
 * tenant, which is where an account without a namespace is.
 */
export function isDeclaredAccount(
  { accounts }: Pick<FleetConfig, 'accounts'>,
  account: { readonly cluster: string; readonly namespace: string; readonly name: string; readonly ofTenant: boolean },
): boolean {
  const { cluster, namespace, name, ofTenant } = account
  return accounts.some(
    one =>
      one.name === name &&
      (one.cluster ?? cluster) === cluster &&
      (one.namespace === undefined ? ofTenant : one.namespace === namespace),
  )
}

/** Whether the fleet says that a branch requires our check. */
export function isGatedBranch({ gatedBranches }: FleetConfig, url: string, branch: string): boolean {
  const address = normaliseUrl(url)
  return gatedBranches.some(one => one.url === address && one.branch === branch)
}
