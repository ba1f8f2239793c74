import { BailiwickError } from '../errors.ts'

/** A registry that the operator lets this process ask. */
export interface RegistryHost {
  /** As artifacts name it: `ghcr.io`, `registry.acme.test:5000`. */
  readonly host: string
  /** `http` only where the operator wrote so. */
  readonly scheme: 'https' | 'http'
  /** `Basic ...`; secret: not enumerable. */
  readonly authorization?: string
}

const HOST = /^(?:(https?):\/\/)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9]\d{0,4})?)$/

/**
 * Reads a list of hosts, separated by commas, and the credentials for them in the form of Docker's config.json. Undefined for
 * an entry that is not a host: the caller names the variable. Throws `config` for credentials that cannot be read, without
 * quoting them.
 */
export function registryHosts(list: string, credentials = '{}'): readonly RegistryHost[] | undefined {
  const known = readCredentials(credentials)
  const hosts: RegistryHost[] = []
  for (const entry of list.split(',').map(one => one.trim())) {
    const [, scheme = 'https', host] = HOST.exec(entry) ?? []
    if (host === undefined) return undefined
    const one = { host, scheme: scheme as RegistryHost['scheme'] }
    const authorization = known.get(host)
    if (authorization !== undefined) Object.defineProperty(one, 'authorization', { value: authorization })
    hosts.push(Object.freeze(one))
  }
  return hosts
}

/** Docker writes its own registry under the address of its first version. */
const DOCKER_HUB = 'https://index.docker.io/v1/'

function readCredentials(text: string): Map<string, string> {
  const wrong = (what: string) =>
    new BailiwickError('config', `OCI_CREDENTIALS_FILE ${what}`, {
      fix: 'Write it as Docker does: {"auths": {"ghcr.io": {"auth": "<base64 of user:token>"}}}.',
    })
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw wrong('is not JSON')
  }
  const auths = (parsed as { auths?: unknown } | null)?.auths ?? {}
  if (typeof auths !== 'object' || auths === null || Array.isArray(auths)) throw wrong('has no map "auths"')
  const known = new Map<string, string>()
  for (const [address, entry] of Object.entries(auths as Record<string, unknown>)) {
    const { auth, username, password } = (entry ?? {}) as Record<string, unknown>
    const plain = typeof username === 'string' && typeof password === 'string' ? `${username}:${password}` : undefined
    const encoded = typeof auth === 'string' && auth !== '' ? auth : plain && Buffer.from(plain).toString('base64')
    if (!encoded || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) throw wrong('has an entry without "auth"')
    const host =
      address === DOCKER_HUB ? 'registry-1.docker.io' : address.replace(/^https?:\/\//, '').replace(/\/.*$/, '')
    known.set(host, `Basic ${encoded}`)
  }
  return known
}
