import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { artifactPath } from '../../../flux/artifact-path.ts'
import { valuesOf } from '../../../flux/kinds.ts'
import { at, stringAt } from '../../../kube/node.ts'
import { message } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'

/** Where each kind that makes the Flux Operator start from a folder says which. */
const SYNCS = valuesOf(row => row.starts)

/** The kinds that may start a cluster. */
export const STARTING_KINDS: readonly string[] = [...SYNCS.keys()]

/**
 * A FluxInstance that is applied to one cluster and names the folder of another: Flux starts from it there, while it is
 * evaluated as the other cluster, with the tenants that are known of that one.
 */
export function* elsewhereStarted({ object, id, kind, node }: Subject, { index }: RuleContext): Iterable<Violation> {
  if (node.tenant !== undefined || at(object.root, ['spec', 'kubeConfig'])) return
  const place = SYNCS.get(kind) ?? []
  const path = stringAt(object.root, [...place, 'path'])
  if (path === undefined || /[{}$]/.test(path)) return
  const [folder, own] = [artifactPath(path), index.cluster(node.cluster)?.path]
  const other = index.clusters().find(name => name !== node.cluster && index.cluster(name)?.path === folder)
  if (folder === own || other === undefined) return
  yield {
    node,
    object,
    path: [...place, 'path'],
    value: folder,
    message: message`${objectPart(id.kind, id.namespace, id.name)} makes Flux of cluster ${quoted('value', node.cluster)} start from ${quoted('path', folder)}, which belongs to cluster ${quoted('value', other)} with other tenants. Allowed: the cluster's own folder.`,
    fix: message`Set the sync path to the folder of cluster ${quoted('value', node.cluster)}. Or move the object to the folder of the other cluster.`,
  }
}
