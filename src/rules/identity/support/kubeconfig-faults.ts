import { BailiwickError } from '../../../errors.ts'
import { internalHost } from '../../../kube/address/internal-host.ts'
import { at, itemsOf, type Node, stringAt } from '../../../kube/node.ts'
import { parseDocuments } from '../../../kube/yaml/parse-documents.ts'

/** Something in a kubeconfig that makes its reader run, read or call what it should not. */
export interface KubeConfigFault {
  /** `exec`, `server`, ...: for the identity of the violation. */
  readonly field: string
  readonly what: string
  /** Runs or reads something on the controller's own machine. */
  readonly local: boolean
}

/** What is asked of a user or cluster entry, by field. */
const OF_USERS: ReadonlyMap<string, string> = new Map([
  ['exec', "runs a program in the controller's container"],
  ['auth-provider', 'lets a plugin of the client fetch credentials'],
  ['tokenfile', "reads a token from a file of the controller's container"],
  ['client-certificate', "reads a certificate from a file of the controller's container"],
  ['client-key', "reads a key from a file of the controller's container"],
])
const OF_CLUSTERS: ReadonlyMap<string, string> = new Map([
  ['certificate-authority', "reads certificates from a file of the controller's container"],
])

const UNKNOWN = 'calls an address that the platform does not vouch for'

/**
 * What is wrong with a text as a kubeconfig; none for a text that is none. `used`: Flux reads it as one, so what cannot be
 * read is a fault, too. `vouched`: any address will do that is not internal. Sources: k8s.io/client-go tools/clientcmd/api/v1, CVE-2022-24817.
 */
export function kubeConfigFaults(text: string, used: boolean, vouched: boolean): KubeConfigFault[] {
  if (!used && !looksLikeOne(text)) return []
  const documents = parse(text)
  if (documents === undefined) {
    return [{ field: '', what: 'cannot be read: YAML readers disagree on it', local: true }]
  }
  return documents.flatMap(root => [
    ...entries(root, 'users', 'user').flatMap(user => named(user, OF_USERS)),
    ...entries(root, 'clusters', 'cluster').flatMap(cluster => [
      ...named(cluster, OF_CLUSTERS),
      ...ofCluster(cluster, vouched),
    ]),
  ])
}

/** Written with escapes it would not show; such a text is read where something of Flux uses it. */
const looksLikeOne = (text: string) => /clusters|users/.test(text) && /server|exec|auth-provider|token/i.test(text)

function parse(text: string): readonly Node[] | undefined {
  try {
    return parseDocuments({ repository: '', path: 'kubeconfig' }, Buffer.from(text))
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}

function entries(root: Node, list: string, field: string): Node[] {
  const items = itemsOf(at(root, [list]))
  return items.flatMap(item => at(item, [field]) ?? [])
}

function named(entry: Node, faults: ReadonlyMap<string, string>): KubeConfigFault[] {
  if (entry.type !== 'map') return []
  return [...entry.fields].flatMap(([key, { value }]) => {
    const what = faults.get(key.toLowerCase())
    if (what === undefined || (value.type === 'scalar' && (value.value === null || value.value === ''))) return []
    return [{ field: key, what, local: true }]
  })
}

function ofCluster(cluster: Node, vouched: boolean): KubeConfigFault[] {
  const faults: KubeConfigFault[] = []
  const insecure = at(cluster, ['insecure-skip-tls-verify'])
  if (insecure?.type === 'scalar' && insecure.value !== false && insecure.value !== null) {
    faults.push({ field: 'insecure-skip-tls-verify', what: 'does not check whom it talks to', local: false })
  }
  for (const field of ['server', 'proxy-url']) {
    const address = stringAt(cluster, [field]) ?? ''
    const what = addressFault(address) ?? (vouched || address === '' ? undefined : UNKNOWN)
    if (what) faults.push({ field, what, local: false })
  }
  return faults
}

/** What is wrong with the address of an API server; a private address is where many clusters have theirs. */
export function addressFault(address: string): string | undefined {
  if (address === '') return undefined
  const url = URL.parse(address.includes('://') ? address : `https://${address}`)
  if (!url) return 'is not an address'
  if (url.protocol === 'http:') return 'sends credentials without TLS'
  const internal = internalHost(url.hostname)
  return internal && internal.what !== 'a private address' ? `calls ${internal.what}` : undefined
}
