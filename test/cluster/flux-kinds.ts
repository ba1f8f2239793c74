import type { Json } from '../../src/kube/node.ts'
import type { TestCluster } from '../../tools/envtest/start.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface DefinitionOptions {
  /** The first one is stored. */
  readonly versions?: readonly string[]
  readonly scope?: 'Namespaced' | 'Cluster'
}

/** The definition of a kind whose objects may say anything. */
export function definition(group: string, kind: string, options: DefinitionOptions = {}): Json {
  const { versions = ['v1'], scope = 'Namespaced' } = options
  const plural = `${kind.toLowerCase()}${kind.endsWith('y') ? '-' : ''}s`.replace('y-s', 'ies')
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  // as in Flux's own definitions: what no controller has looked at yet is not healthy
  const status = group.endsWith('.toolkit.fluxcd.io') ? { ...anything, default: { observedGeneration: -1 } } : anything
  const schema = { ...anything, properties: { status } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versions.map((name, index) => ({
        ...{ name, served: true, storage: index === 0 },
        ...{ schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
      })),
    },
  }
}

/** Makes the API server know Flux's Kustomization, without its schema; resolves when it is served. */
export async function installKustomizations(server: TestCluster): Promise<void> {
  await server.request('POST', CRDS, definition('kustomize.toolkit.fluxcd.io', 'Kustomization'))
  const path = '/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations'
  while ((await server.request('GET', path)).status !== 200) await new Promise(resolve => setTimeout(resolve, 50))
}
