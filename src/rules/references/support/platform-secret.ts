import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import type { Naming } from '../../../facts/naming.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { withEmbedded } from '../../../kube/capabilities/embedded-objects.ts'
import { EMBEDDINGS, type EmbeddedPlace } from '../../../kube/capabilities/embeddings.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { isOwnSecret } from './is-own-secret.ts'
import { platformReaders, readerName } from './secret-readers.ts'

/** Why a Secret of a tenant's namespace is the platform's. */
interface PlatformSecret {
  /** `GitRepository dev-team reads it`. */
  readonly why: string
  /** It is not visible, and only its name says so. */
  readonly isGuess: boolean
}

const isSecret = (object: KubeObject) => kindOf(object) === '/Secret'
const isForm = ({ form }: EmbeddedPlace) => typeof form === 'object' && 'kind' in form && form.kind === '/v1/Secret'
const WRITERS = ['/Secret', ...Object.keys(EMBEDDINGS).filter(kind => EMBEDDINGS[kind]!.some(isForm))]
/** The Secrets that objects of the platform are, or that controllers write for them. */
const WRITTEN: Naming = {
  id: 'platform writes secret',
  of: ({ node, object }) =>
    node.tenant === undefined
      ? withEmbedded(object)
          .filter(isSecret)
          .map(one => `${idOf(one).namespace}/${idOf(one).name}`)
      : [],
}

/** What reads or writes a Secret for the platform; undefined where nothing does, whatever it is called. */
export function platformSecret(
  index: FleetIndex,
  node: FleetNode,
  namespace: string,
  name: string,
): PlatformSecret | undefined {
  const { cluster } = node
  const [reader] = platformReaders(index, cluster, namespace, 'Secret', name)
  if (reader) return { why: `${readerName(reader)} reads it`, isGuess: false }
  // also where the tenant renders one of this name: the addon writes its own over it
  const homes = index.capsuleHomes(cluster)
  const accounts = (node.tenant === undefined ? [] : index.namespacesOf(cluster, node.tenant)).flatMap(
    home => homes.get(home) ?? [],
  )
  if (accounts.some(account => name === `${account}-kubeconfig` || name === `${account}-token`)) {
    return { why: "Capsule's addon or the worker writes it", isGuess: false }
  }
  if (isOwnSecret(index, node, namespace, name)) return undefined
  const text = `${namespace}/${name}`
  const [writer] = WRITERS.flatMap(kind => index.foundAnywhere(cluster, kind, WRITTEN, text))
  if (writer) {
    const why = isSecret(writer.object) ? 'the platform renders it' : `${readerName(writer)} of the platform writes it`
    return { why, isGuess: false }
  }
  const account = tokenOf(index, cluster, namespace, name)
  return account === undefined ? undefined : { why: `it may hold the token of account ${account}`, isGuess: true }
}

/** The account as which Flux acts in a namespace, where a Secret is called as its token is, by people and by Kubernetes. */
function tokenOf(index: FleetIndex, cluster: string, namespace: string, name: string): string | undefined {
  const parts = name.split('-')
  return parts
    .map((_, count) => parts.slice(0, count).join('-'))
    .find(account => {
      const rest = name.slice(account.length)
      return /^-(?:token|kubeconfig)(?:-[a-z0-9]{5})?$/.test(rest) && index.reconciler(cluster, namespace, account)
    })
}
