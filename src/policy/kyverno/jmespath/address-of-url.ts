import { parseAddress } from '../../../kube/parse-address.ts'
import { NotEvaluatedError, RuleError } from './values.ts'

/** Internal networks: loopback and private addresses (net.IP.IsLoopback and IsPrivate of Go). */
const INSIDE: readonly (readonly [bits: 32 | 128, prefix: bigint, length: number])[] = [
  [32, 127n << 24n, 8],
  [32, 10n << 24n, 8],
  [32, (172n << 24n) | (16n << 16n), 12],
  [32, (192n << 24n) | (168n << 16n), 16],
  [128, 1n, 128],
  [128, 0xfcn << 120n, 7],
]

/** Whether the host of a URL is an internal or an external address; a host name can only be resolved in the cluster. */
export function addressOfUrl(text: string): 'inside' | 'external' {
  const [, host] = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)/.exec(text) ?? []
  if (host === undefined) throw new RuleError('is_external_url: no host')
  const address = parseAddress(host.replace(/^\[|\]$/g, ''))
  if (!address) throw new NotEvaluatedError('is_external_url() looks up a name')
  const { bits, value } = address
  const isInside = INSIDE.some(
    ([size, prefix, length]) => size === bits && value >> BigInt(size - length) === prefix >> BigInt(size - length),
  )
  return isInside ? 'inside' : 'external'
}
