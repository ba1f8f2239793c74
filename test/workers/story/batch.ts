import type { TestCluster } from '../../../tools/envtest/start.ts'
import { deploymentFile } from './tenant-changes.ts'

/** How many ConfigMaps a batch has: enough that a kill comes while they are applied. */
const SIZE = 24

/** The overlay of dev-team's staging with a batch of objects in place of the one before. */
export function batchFiles(name: string): Record<string, string> {
  const objects = [...configMaps(name).map(configMapFile), deploymentFile(name, 'apps')]
  return { 'staging/batch.yaml': objects.join('---\n'), 'staging/kustomization.yaml': stagingOverlay(['batch.yaml']) }
}

/** Staging as it is committed, with more files. */
export function stagingOverlay(files: readonly string[]): string {
  const resources = ['../base', ...files].map(file => `  - ${file}\n`).join('')
  return `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
${resources}patchesStrategicMerge:
  - storefront-values.yaml
`
}

/** What the namespace of dev-team holds when a batch was applied. */
export function batchObjects(name: string): string[] {
  const names = [`Deployment ${name}`, ...configMaps(name).map(one => `ConfigMap ${one}`)]
  return ['Deployment storefront', 'ConfigMap storefront-settings', ...names].sort()
}

/** Kind and name of every Deployment and ConfigMap in the namespace of dev-team, generated suffixes left out. */
export async function liveObjects(cluster: TestCluster): Promise<string[]> {
  const lists = { Deployment: '/apis/apps/v1', ConfigMap: '/api/v1' }
  const found: string[] = []
  for (const [kind, api] of Object.entries(lists)) {
    const { status, body } = await cluster.request('GET', `${api}/namespaces/apps/${kind.toLowerCase()}s`)
    if (status !== 200) throw new Error(`listing ${kind} answered ${status}`)
    const { items } = body as { items: { metadata: { name: string } }[] }
    for (const { metadata } of items) found.push(`${kind} ${metadata.name.replace(/^(storefront-settings)-.*$/, '$1')}`)
  }
  return found.sort()
}

function configMaps(name: string): string[] {
  return Array.from({ length: SIZE }, (_, index) => `${name}-${String(index).padStart(2, '0')}`)
}

function configMapFile(name: string): string {
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  namespace: apps
data:
  of: ${name}
`
}
