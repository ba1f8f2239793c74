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

/** The package of a repository in GitHub's own registry, where its workflows push; undefined for a repository elsewhere. */
export function packageOf(url: string): string | undefined {
  const name = /^https:\/\/github\.com\/([^/]+\/[^/]+)$/.exec(url)?.[1]
  return name === undefined ? undefined : `ghcr.io/${name.toLowerCase()}`
}
