import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { memberSettings } from '../../../fleet/config/member-settings.ts'
import { mayCreateNamespace } from '../../../fleet/tenancy/capsule.ts'
import { at, stringAt } from '../../../kube/node.ts'
import { message } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'

const FIELD = ['spec', 'install', 'createNamespace']

/** A release of a tenant that has Helm create its namespace: nobody would have given that one to anybody. */
export function* createdByHelm({ object, id, node }: Subject, { index, config }: RuleContext): Iterable<Violation> {
  const tenant = index.actsFor(node, object)
  const flag = at(object.root, FIELD)
  if (tenant === undefined || !flag || !isTrue(flag)) return
  const target = stringAt(object.root, ['spec', 'targetNamespace']) || id.namespace
  const isBaseline = memberSettings(config, tenant).every(one => (one?.profile ?? config.profile) === 'baseline')
  const byCapsule = mayCreateNamespace(node.identity, target, index.capsuleOwners(node.cluster))
  const isOwn = index.owns(node.cluster, tenant, target)
  yield {
    node,
    object,
    path: FIELD,
    value: target,
    ...(isOwn && (isBaseline || byCapsule) ? { level: 'warning' as const } : {}),
    severity: 'high',
    message: message`${objectPart(id.kind, id.namespace, id.name)} makes Helm create namespace ${quoted('object', target)} without the platform's labels, quotas and policies. Allowed: an existing namespace. Helm would create it with the rights of the release's account.`,
    fix: message`Remove spec.install.createNamespace, and ask a fleet admin to render the Namespace.`,
    edit: { remove: true },
  }
}

function isTrue(node: NonNullable<ReturnType<typeof at>>): boolean {
  return node.type !== 'scalar' || (node.value !== false && node.value !== null && node.value !== 'false')
}
