import type { Json } from '../../../../src/kube/node.ts'
import type { AccessRequest, UserInfo } from '../../../../src/kube/rbac/policy-rule.ts'
import { findAssets, NO_ASSETS, NO_CONTROLLERS } from '../../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../../tools/envtest/start.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

/** Why no API server with the aggregation controller can be started here. */
export function whyNoCluster(): string | undefined {
  const assets = findAssets()
  return assets ? (assets.controllerManager ? undefined : NO_CONTROLLERS) : NO_ASSETS
}

/** A real API server whose aggregated ClusterRoles are filled in. */
export async function startWithAggregation(namespaces: readonly string[]): Promise<TestCluster> {
  const cluster = await startCluster({ workerRbac: false, controllers: ['clusterrole-aggregation-controller'] })
  for (const name of namespaces) await cluster.request('POST', '/api/v1/namespaces', { metadata: { name } })
  return cluster
}

/** The collection that a role or binding lives in. */
export function pathOf(object: Json): string {
  const { kind, metadata } = object as { kind: string; metadata: { namespace?: string } }
  const inside = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
  return `${RBAC}${inside}/${kind.toLowerCase()}s`
}

interface Review {
  readonly allowed: boolean
  readonly reason?: string
}

/** The API server's own answer to a question. */
export async function review(cluster: TestCluster, user: UserInfo, request: AccessRequest): Promise<Review> {
  const attributes: { [key: string]: Json } =
    'nonResourceURL' in request
      ? { nonResourceAttributes: { verb: request.verb, path: request.nonResourceURL } }
      : {
          resourceAttributes: {
            verb: request.verb,
            group: request.apiGroup,
            resource: request.resource,
            subresource: request.subresource ?? '',
            namespace: request.namespace ?? '',
            name: request.name ?? '',
          },
        }
  const body = { spec: { user: user.name, groups: [...user.groups], ...attributes } }
  const answer = await cluster.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', body)
  if (answer.status !== 201) throw new Error(`SubjectAccessReview: ${JSON.stringify(answer.body)}`)
  return (answer.body as { status: { allowed: boolean; reason?: string } }).status
}

/** `work` on each item, sixteen at a time; the results in the order of the items. */
export async function inParallel<T, R>(items: readonly T[], work: (item: T, at: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const lane = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T, at)
  }
  await Promise.all(Array.from({ length: 16 }, lane))
  return results
}
