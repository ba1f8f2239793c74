import type { TestCluster } from '../../../tools/envtest/start.ts'

const POLICIES = '/apis/admissionregistration.k8s.io/v1'

/**
 * Has the API server itself refuse every Deployment that anybody but `user` creates in a namespace: one that is there
 * afterwards was created by that user. Resolves when the policy is in force.
 */
export async function guardCreations(cluster: TestCluster, namespace: string, user: string): Promise<void> {
  const metadata = { name: 'only-the-account-creates' }
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }
  await cluster.request('POST', `${POLICIES}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: `request.userInfo.username == '${user}' || request.namespace != '${namespace}'` }],
    },
  })
  await cluster.request('POST', `${POLICIES}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Deny'] },
  })
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await tryToCreate(cluster, namespace)) === 422) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error('the policy did not come into force within 10 s')
}

async function tryToCreate(cluster: TestCluster, namespace: string): Promise<number> {
  const labels = { app: 'probe' }
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments?dryRun=All`
  const { status } = await cluster.request('POST', path, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'probe', namespace },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'probe', image: 'probe' }] } },
    },
  })
  return status
}
