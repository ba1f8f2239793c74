/** Where an OCI artifact lies, without its tag. */
export interface OciReference {
  /** `ghcr.io/acme/fleet`. */
  readonly repository: string
  readonly tag?: string
}

const HOST = /^(?:localhost|[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+)(?::[1-9]\d{0,4})?$/
/** As the distribution specification writes the parts of a name: no dot segments, no capitals, no escapes. */
const PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/

/**
 * Reads `[oci://]HOST[:PORT]/NAME[:TAG]`. Undefined for what another reader may take for something else: capitals, dot
 * segments, escapes, a digest, a user, a name without a host.
 */
export function ociReference(text: string): OciReference | undefined {
  const address = text.startsWith('oci://') ? text.slice('oci://'.length) : text
  if (address.length > 500) return undefined
  const [host = '', ...parts] = address.split('/')
  const [last = '', tag, more] = (parts.pop() ?? '').split(':')
  if (!HOST.test(host) || more !== undefined || ![...parts, last].every(part => PART.test(part))) return undefined
  if (tag !== undefined && !TAG.test(tag)) return undefined
  const repository = [host, ...parts, last].join('/')
  return tag === undefined ? { repository } : { repository, tag }
}

/**
 * Whether workflows of a repository are whom GitHub lets push there: a package of the repository's owner in GitHub's own
 * registry. Who may push to another registry is decided elsewhere.
 */
export function isOwnPackage(repository: string, url: string): boolean {
  const owner = /^https:\/\/github\.com\/([^/]+)\/[^/]+$/.exec(url)?.[1]
  return owner !== undefined && repository.startsWith(`ghcr.io/${owner.toLowerCase()}/`)
}
