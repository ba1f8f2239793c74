import { kindOf } from '../../facts/kind-of.ts'
import { type KubeConfigRef, kubeConfigRefs } from '../../facts/kubeconfig-uses.ts'
import { oncePer } from '../../facts/once-per.ts'
import { applierKinds, kubeConfigOf } from '../../fleet/model/appliers.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { ACCOUNT_FIELD, KUBECONFIG_FIELD } from '../../flux/kinds.ts'
import { withEmbedded } from '../../kube/capabilities/embedded-objects.ts'
import { originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'

/** An object by which Flux applies something, and on which cluster that is. */
export interface Applier {
  /** The cluster on which it stands. */
  readonly cluster: string
  readonly id: ObjectId
  /** The tenant that renders it; absent for the platform. */
  readonly tenant?: string
  /** What its kubeConfig names; none: it acts on the cluster on which it stands. */
  readonly refs: readonly KubeConfigRef[]
  /** Identity of the kubeconfig that it acts by; '' for none. */
  readonly target: string
  /** The account that it names; '' where it names none. */
  readonly account: string
  readonly file: string
}

const KINDS: ReadonlySet<string> = new Set(applierKinds)

/** What every node renders to let Flux apply more, and what clusters start with, in the order of the nodes. */
export function appliersIn({ nodes }: Fleet): Applier[] {
  return nodes.flatMap(appliersOf)
}

const appliersOf = oncePer((node: FleetNode): readonly Applier[] => {
  // the root may be patched by what installs Flux, and nothing that is evaluated renders it then
  const roots = node.parent === undefined ? [node.kustomization] : []
  const rendered = [...node.objects, ...(node.retained ?? [])]
  return [...roots, ...rendered].flatMap(object =>
    withEmbedded(object).flatMap(one => (KINDS.has(kindOf(one)) ? [applierOf(node, one)] : [])),
  )
})

function applierOf({ cluster, tenant }: FleetNode, object: KubeObject): Applier {
  const config = kubeConfigOf(object)
  const refs = config ? kubeConfigRefs(config) : []
  const id = idOf(object)
  return {
    cluster,
    id,
    ...(tenant === undefined ? {} : { tenant }),
    refs,
    target: config ? JSON.stringify([id.namespace, ...refs.map(textOf)]) : '',
    account: stringAt(object.root, ACCOUNT_FIELD)?.trim() ?? '',
    file: originAt(object.root, config ? KUBECONFIG_FIELD : ['metadata', 'name']).file,
  }
}

/** Flux looks for the key `value` where none is named. */
const textOf = ({ kind, name, key }: KubeConfigRef): string => JSON.stringify([kind, name, key === 'value' ? '' : key])
