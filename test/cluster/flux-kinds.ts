import type { Json } from '../../src/kube/node.ts'
import type { TestCluster } from '../envtest/start.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** The definition of a kind whose objects may say anything. */
export function definition(group: string, kind: string, version = 'v1'): Json {
  const plural = `${kind.toLowerCase()}s`
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
        },
      ],
    },
  }
}

/** Makes the API server know Flux's Kustomization, without its schema; resolves when it is served. */
export async function installKustomizations(server: TestCluster): Promise<void> {
  await server.request('POST', CRDS, definition('kustomize.toolkit.fluxcd.io', 'Kustomization'))
  const path = '/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations'
  while ((await server.request('GET', path)).status !== 200) await new Promise(resolve => setTimeout(resolve, 50))
}
