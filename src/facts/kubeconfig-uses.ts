import { applierKinds, kubeConfigOf } from '../fleet/model/appliers.ts'
import { at, type Node, type Path, stringAt } from '../kube/node.ts'
import type { Rendered } from './object-table.ts'
import type { ReconcilerOf } from './reconciler-accounts.ts'

/** What an object says about the cluster that it acts on. */
export interface KubeConfigRef {
  /** '' where it names neither. */
  readonly kind: 'Secret' | 'ConfigMap' | ''
  readonly name: string
  /** Of a Secret: the key that holds the kubeconfig; '' for Flux's default. */
  readonly key: string
  readonly path: Path
}

/** Who uses a Secret or ConfigMap of a namespace as a kubeconfig, and by which keys the platform does. */
export interface KubeConfigUse {
  readonly by: ReconcilerOf
  readonly keys: ReadonlySet<string>
}

/** What `spec.kubeConfig` refers to, each part of it: the API server asks for exactly one, others may not. */
export function kubeConfigRefs(config: Node): KubeConfigRef[] {
  const path = ['spec', 'kubeConfig']
  const named = (field: string, kind: KubeConfigRef['kind']): KubeConfigRef[] => {
    const name = stringAt(config, [field, 'name'])
    if (name === undefined) return []
    return [{ kind, name, key: stringAt(config, [field, 'key']) ?? '', path: [...path, field, 'name'] }]
  }
  const refs = [...named('secretRef', 'Secret'), ...named('configMapRef', 'ConfigMap')]
  if (refs.length > 0) return refs
  const field = ['secretRef', 'configMapRef'].find(one => at(config, [one]))
  return [{ kind: '', name: '', key: '', path: field ? [...path, field] : path }]
}

/** The Secrets and ConfigMaps of a namespace that its objects use as kubeconfigs, by `<Kind> <name>`. */
export function kubeConfigUses(rendered: (kind: string) => readonly Rendered[]): ReadonlyMap<string, KubeConfigUse> {
  const uses = new Map<string, KubeConfigUse>()
  for (const { node, object } of applierKinds.flatMap(rendered)) {
    const config = kubeConfigOf(object)
    for (const { kind, name, key } of config ? kubeConfigRefs(config) : []) {
      const own = node.tenant === undefined
      const known = uses.get(`${kind} ${name}`)
      const keys = new Set([...(known?.keys ?? []), ...(own ? [key] : [])])
      uses.set(`${kind} ${name}`, { by: own ? 'platform' : (known?.by ?? 'tenant'), keys })
    }
  }
  return uses
}
