import { connect } from '../../src/cluster/api-client.ts'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { ApplyRequest } from '../../src/cluster/prepare-object.ts'
import type { Json } from '../../src/kube/node.ts'
import type { TestCluster } from '../../tools/envtest/start.ts'
import { binding, create, createPlatformAccount, createTenant, startUnderTest } from './cluster-under-test.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

export const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'
const ADMISSION = '/apis/admissionregistration.k8s.io/v1'

/** A tenant on a real API server behind a proxy; a policy denies ConfigMaps whose `key` is `denied`. */
export interface TenantUnderTest {
  readonly server: TestCluster
  readonly proxy: FaultProxy
  readonly client: ClusterClient
  readonly user: string
  readonly platform: string
  /** As the tenant, where nothing else is said. */
  apply(objects: Json[], more?: Partial<ApplyRequest>): Promise<Awaited<ReturnType<typeof applyObjects>>['objects']>
  stop(): Promise<void>
}

export async function startTenant(): Promise<TenantUnderTest> {
  const { server, stop } = await startUnderTest()
  const proxy = await startFaultProxy(server)
  const client = await connect(binding('staging', proxy.kubeconfig))
  const user = await createTenant(server, 'apps', 'dev-team')
  const platform = await createPlatformAccount(server)
  await create(server, `${ADMISSION}/validatingadmissionpolicies`, policy)
  await create(server, `${ADMISSION}/validatingadmissionpolicybindings`, policyBinding)
  await untilDenied(server)
  const owner = { namespace: 'apps', name: 'dev-team' }
  return {
    server,
    proxy,
    client,
    user,
    platform,
    apply: async (objects, more = {}) => (await applyObjects(client, { user, owner, objects, ...more })).objects,
    async stop() {
      client.close()
      await proxy.close()
      await stop()
    },
  }
}

/** Policies are compiled a moment after they are created. */
async function untilDenied(server: TestCluster): Promise<void> {
  const body = { metadata: { name: 'probe' }, data: { key: 'denied' } }
  for (;;) {
    const denied = await server.request('POST', `${CONFIGMAPS}?dryRun=All`, body)
    if (denied.status === 422) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

const policy: Json = {
  metadata: { name: 'no-denied' },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
      ],
    },
    validations: [
      {
        expression: "!has(object.data) || !('key' in object.data) || object.data.key != 'denied'",
        message: 'no value may be denied',
      },
    ],
  },
}
const policyBinding: Json = {
  metadata: { name: 'no-denied' },
  spec: { policyName: 'no-denied', validationActions: ['Deny'] },
}
