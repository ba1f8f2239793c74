import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { quoted } from '../../../facts/shown.ts'
import { listed, type Message, message } from '../../../message/message.ts'

/** The namespaces of a tenant on a cluster, as a message lists them; `none` where there is none. */
export function ownNamespaces(index: FleetIndex, cluster: string, tenant: string): Message {
  const own = index.namespacesOf(cluster, tenant)
  return own.length === 0 ? message`none` : listed(own.map(name => quoted('object', name)))
}
