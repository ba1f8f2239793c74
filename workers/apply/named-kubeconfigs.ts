import type { ApprovedNode } from '../../src/approval/approve.ts'
import { parseExact } from '../../src/cluster/exact-json.ts'
import { stringAt } from '../../src/cluster/json-at.ts'
import type { NamedKubeConfig } from '../../src/cluster/remote/own-kubeconfigs.ts'
import { HELM_GROUP } from '../../src/flux/kinds.ts'
import type { Json } from '../../src/kube/node.ts'

type Node = Pick<ApprovedNode, 'namespace' | 'user' | 'settings' | 'objects'>

/** The kubeconfigs that an approved node and its HelmReleases name, with the accounts that use them. */
export function namedKubeConfigs(node: Node): NamedKubeConfig[] {
  const { namespace, user, settings } = node
  const own = settings.kubeConfig === undefined ? [] : [{ namespace, user, kubeConfig: settings.kubeConfig }]
  return [...own, ...helmKubeConfigs(node)]
}

/** The kubeconfigs of its HelmReleases, which helm-controller reads itself. */
export function helmKubeConfigs({ user, objects }: Node): NamedKubeConfig[] {
  return objects
    .filter(text => text.includes('"kubeConfig"'))
    .map(parseExact)
    .filter(isHelmRelease)
    .map(object => {
      const ref = (field: string) => stringAt(object, 'spec', 'kubeConfig', 'secretRef', field)
      const kubeConfig = { kind: 'Secret', name: ref('name'), key: ref('key') } as const
      return { namespace: stringAt(object, 'metadata', 'namespace'), user, kubeConfig }
    })
}

const isHelmRelease = (object: Json): boolean =>
  stringAt(object, 'kind') === 'HelmRelease' && stringAt(object, 'apiVersion').startsWith(`${HELM_GROUP}/`)
