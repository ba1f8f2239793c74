import { apiClient, apiServer } from './api-client.ts'
import type { ClusterClient } from './client.ts'
import type { ClusterBinding } from './clusters-file.ts'
import { readCredentials } from './credentials.ts'

/** A client for the bound cluster. Reads credentials, does not talk to the cluster yet. Throws `config` (see readCredentials). */
export async function connect(binding: ClusterBinding, options: { timeoutMs?: number } = {}): Promise<ClusterClient> {
  const { name, namespace } = binding
  const { server, access } = await readCredentials(binding)
  return apiClient({ name, namespace, server: apiServer(server), access, timeoutMs: options.timeoutMs })
}
