import type { TestCluster } from '../../../../tools/envtest/start.ts'
import type { Container, Pod } from './manifest.ts'
import { dataOf } from './pod-volumes.ts'

/** The variables that a kubelet gives to a container, those of the API server's Service included. Throws where a key is missing. */
export async function containerEnv(
  cluster: TestCluster,
  pod: Pod,
  container: Container,
): Promise<Record<string, string>> {
  const namespace = pod.metadata.namespace!
  const env: Record<string, string> = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    const [plural, of] = configMapRef ? (['configmaps', configMapRef] as const) : (['secrets', secretRef!] as const)
    const data = await dataOf(cluster, namespace, plural, of.name)
    if (data === undefined && !of.optional) throw new Error(`${plural} ${of.name}: not there, and not optional`)
    for (const [name, value] of Object.entries(data ?? {})) env[name] = value.toString()
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    if (!valueFrom) {
      env[name] = value ?? ''
      continue
    }
    const { secretKeyRef, configMapKeyRef } = valueFrom
    const [plural, of] = secretKeyRef
      ? (['secrets', secretKeyRef] as const)
      : (['configmaps', configMapKeyRef!] as const)
    const found = (await dataOf(cluster, namespace, plural, of.name))?.[of.key]
    if (found === undefined && !of.optional) throw new Error(`${plural} ${of.name}: no entry ${of.key} for ${name}`)
    if (found !== undefined) env[name] = found.toString()
  }
  return env
}
