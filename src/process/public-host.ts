import { BlockList, isIP } from 'node:net'

/** Names that never lead to a host (RFC 2606, RFC 6761), and the ones in our texts. */
export const isExampleHost = (host: string): boolean =>
  /(^|\.)(example(\.(com|net|org))?|test|invalid|localhost|your\.domain|your-domain\.com)\.?$/i.test(host)

/** Words of our texts in the place of an account's name. */
export const isExampleAccount = (name: string): boolean => /^(?:yours?|your-?org(?:anization)?)$/i.test(name)

const PRIVATE = new BlockList()
for (const [net, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  PRIVATE.addSubnet(net, prefix)
for (const [net, prefix] of [
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  PRIVATE.addSubnet(net, prefix, 'ipv6')
PRIVATE.addAddress('::1', 'ipv6')

/** Whether a host is known only inside of a network: a private address, or a name that no public DNS has. */
export function isPrivateHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  const family = isIP(bare)
  if (family !== 0) return PRIVATE.check(bare, family === 6 ? 'ipv6' : 'ipv4')
  return !bare.includes('.') || /\.(?:local|internal|lan|home\.arpa|svc)\.?$/i.test(bare)
}

/** The web address of the GitHub whose API is at `apiUrl`: github.com, a tenant of ghe.com, an Enterprise Server. */
export function webHost(apiUrl: string): string {
  const url = new URL(apiUrl)
  if (url.hostname === 'api.github.com' || /^api\.[a-z\d-]+\.ghe\.com$/.test(url.hostname)) {
    return `${url.protocol}//${url.host.slice('api.'.length)}`
  }
  // an Enterprise Server has its API below /api/v3 of the same host
  return url.origin
}
