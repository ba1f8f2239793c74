import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mapAt, stringAt } from '../../../../src/cluster/json.ts'
import type { TestCluster } from '../../../../tools/envtest/start.ts'
import { asJson, type Pod, type ProjectedSource, type Volume } from './manifest.ts'

interface VolumeFile {
  readonly path: string
  readonly content: Buffer
}

const IS_ROOT = process.getuid?.() === 0

/** Writes a pod's volumes below `folder`, one folder each, with the modes and owners that a kubelet gives them. */
export async function writeVolumes(cluster: TestCluster, pod: Pod, folder: string): Promise<void> {
  const { fsGroup = 0, runAsUser } = pod.spec.securityContext
  for (const volume of pod.spec.volumes) {
    const at = join(folder, volume.name)
    mkdirSync(at, { recursive: true })
    const mode = volume.projected?.defaultMode ?? volume.secret?.defaultMode ?? volume.configMap?.defaultMode ?? 0o644
    for (const { path, content } of await filesOf(cluster, pod, volume)) {
      const file = join(at, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
      chmodSync(file, mode)
      if (IS_ROOT) chownSync(file, 0, fsGroup)
    }
    if (volume.emptyDir) chmodSync(at, 0o2777)
    if (volume.persistentVolumeClaim) chmodSync(at, 0o2775)
    if (IS_ROOT) chownSync(at, volume.emptyDir ? runAsUser : 0, fsGroup)
  }
}

async function filesOf(cluster: TestCluster, pod: Pod, volume: Volume): Promise<VolumeFile[]> {
  const { secret, configMap, projected, emptyDir, persistentVolumeClaim } = volume
  if (emptyDir || persistentVolumeClaim) return []
  if (secret) return projectedFiles(cluster, pod, { secret: { ...secret, name: secret.secretName! } })
  if (configMap) return projectedFiles(cluster, pod, { configMap })
  if (projected) return (await Promise.all(projected.sources.map(one => projectedFiles(cluster, pod, one)))).flat()
  throw new Error(`volume ${volume.name}: a kind that this test does not know`)
}

async function projectedFiles(cluster: TestCluster, pod: Pod, source: ProjectedSource): Promise<VolumeFile[]> {
  const { secret, configMap, serviceAccountToken, downwardAPI } = source
  if (serviceAccountToken) return [await tokenOf(cluster, pod, serviceAccountToken)]
  if (downwardAPI)
    return downwardAPI.items.map(({ path, fieldRef }) => ({
      path,
      content: Buffer.from(stringAt(asJson(pod), ...fieldRef.fieldPath.split('.'))),
    }))
  const [plural, of] = secret ? (['secrets', secret] as const) : (['configmaps', configMap!] as const)
  const data = await dataOf(cluster, pod.metadata.namespace!, plural, of.name!)
  if (data === undefined && !of.optional) throw new Error(`${plural} ${of.name}: not there, and not optional`)
  const items = of.items ?? Object.keys(data ?? {}).map(key => ({ key, path: key }))
  return items.map(({ key, path }) => {
    const content = data?.[key]
    if (content === undefined) throw new Error(`${plural} ${of.name}: no entry ${key}`)
    return { path, content }
  })
}

/** The entries of a Secret or a ConfigMap; undefined where it is absent. */
export async function dataOf(
  cluster: TestCluster,
  namespace: string,
  plural: 'secrets' | 'configmaps',
  name: string,
): Promise<Readonly<Record<string, Buffer>> | undefined> {
  const { status, body } = await cluster.request('GET', `/api/v1/namespaces/${namespace}/${plural}/${name}`)
  if (status === 404) return undefined
  if (status !== 200) throw new Error(`${plural} ${name}: ${JSON.stringify(body)}`)
  const encoding = plural === 'secrets' ? 'base64' : 'utf8'
  const data = Object.entries(mapAt(body, 'data')).map(([key, value]) => [key, Buffer.from(String(value), encoding)])
  return Object.fromEntries(data)
}

/** A token of the pod's account, bound to the pod. */
async function tokenOf(
  cluster: TestCluster,
  { metadata, spec: { serviceAccountName } }: Pod,
  { path, expirationSeconds = 3600, audience }: NonNullable<ProjectedSource['serviceAccountToken']>,
): Promise<VolumeFile> {
  const spec = {
    expirationSeconds,
    ...(audience === undefined ? {} : { audiences: [audience] }),
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: metadata.name, uid: stringAt(asJson(metadata), 'uid') },
  }
  const at = `/api/v1/namespaces/${metadata.namespace}/serviceaccounts/${serviceAccountName}/token`
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  const { status, body } = await cluster.request('POST', at, asJson(request))
  if (status !== 201) throw new Error(`a token of ${serviceAccountName}: ${JSON.stringify(body)}`)
  return { path, content: Buffer.from(stringAt(body, 'status', 'token')) }
}
