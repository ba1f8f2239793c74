import { namespaceLabels } from '../../facts/namespace-labels.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { readLabelSelector, selects } from '../../kube/label-selector.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { textsOf } from '../../kube/read-text.ts'
import { message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'

const GROUP = 'external-secrets.io'
const GRANT = 'gateway.networking.k8s.io/ReferenceGrant'

/** Secrets of the platform's stores are for whom the store names. */
export const externalSecretClusterStore: Rule = {
  id: 'external-secret-cluster-store',
  severity: 'high',
  level: 'warning',
  title: 'Secrets from a cluster-wide store',
  why: "A ClusterSecretStore signs in with the platform's account for all tenants. A tenant that names it can read every path that this account can read. A ReferenceGrant without limits exposes the tenant's Secrets in the same way.",
  source: 'external-secrets docs, "ClusterSecretStore" and "Multi tenancy"; Gateway API, ReferenceGrant',
  docs: "Use a SecretStore in the tenant's namespace with an account of the tenant. Or ask a fleet admin to list the tenant's namespaces in `spec.conditions` of the ClusterSecretStore.",
  kinds: [`${GROUP}/ExternalSecret`, `${GROUP}/PushSecret`, GRANT],
  *checkTenantObject(subject, context) {
    if (subject.kind === GRANT) yield* evaluateGrant(subject)
    else yield* evaluateStores(subject, context)
  },
}

function* evaluateStores(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { object, id, node } = subject
  const places: Path[] = [
    ['spec', 'secretStoreRef'],
    ...items(object.root, ['spec', 'secretStoreRefs']),
    ...['data', 'dataFrom'].flatMap(field =>
      items(object.root, ['spec', field]).map(path => [...path, 'sourceRef', 'storeRef']),
    ),
  ]
  for (const place of places) {
    const kind = stringAt(object.root, [...place, 'kind'])
    const name = stringAt(object.root, [...place, 'name']) ?? ''
    if (kind !== 'ClusterSecretStore' || isGiven(subject, context, name)) continue
    yield {
      node,
      object,
      path: [...place, 'kind'],
      value: `ClusterSecretStore ${name}`,
      message: message`${objectPart(id.kind, id.namespace, id.name)} uses ClusterSecretStore ${quoted('object', name)}, which reads with the platform's account and is not limited to the tenant's namespaces. Allowed: a SecretStore, or a ClusterSecretStore limited to them.`,
      fix: message`Replace it with a SecretStore in the tenant's namespace.`,
    }
  }
}

/** Whether the platform's store names this namespace among those that may use it. */
function isGiven({ id, node }: Subject, { index }: RuleContext, name: string): boolean {
  const store = index.platformObject(node.cluster, `${GROUP}/ClusterSecretStore`, '', name)
  const conditions = at(store?.root, ['spec', 'conditions'])
  if (conditions?.type !== 'list') return false
  return conditions.items.some(condition => {
    if ((textsOf(at(condition, ['namespaces'])) ?? []).includes(id.namespace)) return true
    const written = at(condition, ['namespaceSelector'])
    const selector = written && readLabelSelector(written)
    if (!selector || selector.length === 0) return false
    return selects(selector, namespaceLabels(index, node.cluster, id.namespace))
  })
}

function* evaluateGrant({ object, id, node }: Subject): Iterable<Violation> {
  for (const path of items(object.root, ['spec', 'from'])) {
    const namespace = stringAt(object.root, [...path, 'namespace'])?.trim() ?? ''
    if (namespace !== '' && !namespace.includes('*')) continue
    const problem = message`${objectPart(id.kind, id.namespace, id.name)} admits every namespace. Allowed: namespaces by name.`
    const fix = message`Set from[].namespace to the namespace that may refer to this one.`
    yield { node, object, path: [...path, 'namespace'], value: namespace, message: problem, fix }
  }
}

function items(root: Node, path: Path): Path[] {
  const list = at(root, path)
  return list?.type === 'list' ? [...list.items.keys()].map(index => [...path, index]) : []
}
