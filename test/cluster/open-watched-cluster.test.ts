import { expect, test } from 'vitest'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { openWatchedCluster } from '../../workers/apply/watched-cluster.ts'
import { silentLog } from '../repository/runner/silent-log.ts'
import { binding } from './cluster-under-test.ts'

const client = { name: 'staging', namespace: 'bailiwick-system', close: () => {} } as ClusterClient
const key = {
  service: 'vault',
  key: 'https://vault.acme.example:8200/v1/transit/keys/fleet',
  namespaces: ['apps'],
  credentials: { type: 'file', file: '/etc/bailiwick/vault' },
} as const

test('a cluster keeps the services whose keys its operator lists, and the tokens that they gave', async () => {
  const cluster = openWatchedCluster(
    { ...binding('staging', ''), kmsKeys: [key] },
    { client, resyncSeconds: 60, log: silentLog, again: () => {} },
  )
  expect([cluster.kms.isListed('apps'), cluster.kms.isListed('other')]).toEqual([true, false])
  await cluster.close()
})
