import { parse } from 'yaml'
import type { Json } from '../../../src/kube/node.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'

/** A Deployment as a team would write it, in the namespace of operations. */
export function deploymentFile(name: string, namespace = 'ops'): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  replicas: 1
  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}
    spec:
      containers:
        - name: web
          image: acme/${name}:1.0.0
`
}

/**
 * A Deployment of the namespace apps made by hand with another selector: the API server refuses the team's of
 * that name, at the eighth line of `deploymentFile`, and git cannot show why.
 */
export async function makeByHand(cluster: TestCluster, name: string): Promise<void> {
  const object: Json = parse(deploymentFile(name, 'apps').replaceAll(`app: ${name}`, 'app: by-hand'))
  const { status } = await cluster.request('POST', '/apis/apps/v1/namespaces/apps/deployments', object)
  if (status !== 201) throw new Error(`POST of ${name} answered ${status}`)
}

/** The overlay patch with which a team's Deployment gets into another team's namespace; the culprit is its last line. */
export const MOVE_PATCH = `# the report belongs to the storefront
- op: replace
  path: /spec/replicas
  value: 2
- op: replace
  path: /metadata/namespace
  value: apps
`
export const CULPRIT = { path: 'move.yaml', line: 7 }

/** The overlay of operations with one more Deployment, and with the patch or without. */
export function overlay(options: { readonly moved: boolean }): string {
  const patch = `  - path: move.yaml
    target:
      kind: Deployment
      name: rep.*
`
  return `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - base
  - report.yaml
patches:
  - path: replicas.yaml
${options.moved ? patch : ''}`
}
