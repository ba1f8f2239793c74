import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { kubeConfigOf } from '../model/appliers.ts'

const plain = (text: string) => text.replace(/[^\w.-]/g, '?')

/**
 * Name of the cluster on which an object of the hub acts by its `spec.kubeConfig`: `<hub> -> kubeconfig <namespace>/<name>`,
 * with the key where it names one; undefined for the hub itself, and for a kubeConfig that names nothing, which the API
 * server refuses. Flux reads the Secret or ConfigMap in the namespace of the object
 * (https://fluxcd.io/flux/components/kustomize/kustomizations/#kubeconfig-remote-clusters).
 */
export function remoteClusterOf(hub: string, object: KubeObject): string | undefined {
  const config = kubeConfigOf(object)
  const { namespace } = idOf(object)
  const secret = stringAt(config, ['secretRef', 'name'])
  if (secret) {
    const key = stringAt(at(config, ['secretRef']), ['key']) ?? ''
    // the first key for which Flux looks where none is named
    const suffix = key === '' || key === 'value' ? '' : `/${plain(key)}`
    return `${hub} -> kubeconfig ${plain(namespace)}/${plain(secret)}${suffix}`
  }
  const map = stringAt(config, ['configMapRef', 'name'])
  return map ? `${hub} -> kubeconfig ConfigMap/${plain(namespace)}/${plain(map)}` : undefined
}
