import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, canonical, type Node, type Path } from '../../kube/node.ts'
import { message, part } from '../../message/message.ts'
import type { FindingLevel, Rule, Violation } from '../model/rule.ts'
import { CONFIGURATION, TENANT, webhookVersion } from './support/capsule-tenants.ts'
import { CONFIGURATION_FIELDS, TENANT_FIELDS } from './support/policy-fields.ts'

/** Before v1beta2, Tenants were limited by annotations. */
const ANNOTATIONS = 'capsule.clastix.io/'
const MAX_SHOWN = 80

/** A change keeps the limits that Capsule sets. */
export const capsulePolicyWeakened: Rule = {
  id: 'capsule-policy-weakened',
  severity: 'high',
  title: 'Weakened Capsule policy',
  why: 'The owner of a Capsule Tenant is admin of its namespaces. Only the fields of the Tenant and of the CapsuleConfiguration separate that owner from other tenants and from the nodes.',
  source: 'GHSA-gjw4-3v3v-rqxg; Capsule: api/v1beta2',
  docs: 'Weaken a limit in a separate change and waive the rule for it. A weaker limit that separates tenants (networks, nodes, hostnames, namespace labels, classes, registries) is a violation. A higher quota or limit is a warning.',
  kinds: [TENANT, CONFIGURATION],
  *checkObject(subject, { index, before }) {
    const { object, id, kind, node } = subject
    const was = node.tenant === undefined ? before?.platformObject(node.cluster, kind, '', id.name) : undefined
    if (!was) return
    const users = webhookVersion(index, node.cluster) >= 12 ? at(object.root, ['spec', 'users']) : undefined
    for (const { path, limit, level } of kind === TENANT ? TENANT_FIELDS : CONFIGURATION_FIELDS) {
      const [old, young] = [at(was.root, path), at(object.root, path)]
      if (limit(old, young, users)) yield violation(subject, path, old, young, levelOf(level, old))
    }
    const annotations = at(was.root, ['metadata', 'annotations'])
    if (annotations?.type !== 'map') return
    for (const [key, { value }] of annotations.fields) {
      if (!key.startsWith(ANNOTATIONS) || !/\/(forbidden-|allowed-|enable-|available-|deny-)/.test(key)) continue
      const path = ['metadata', 'annotations', key]
      const now = at(object.root, path)
      if (!now || canonical(now) !== canonical(value)) yield violation(subject, path, value, now, 'violation')
    }
  },
}

/** Labels of Pod Security that Capsule puts on namespaces keep pods in, whatever field they stand in. */
function levelOf(level: FindingLevel, old: Node | undefined): FindingLevel {
  return old && canonical(old).includes('pod-security.kubernetes.io/enforce') ? 'violation' : level
}

function violation(
  { object, id, node }: Subject,
  path: Path,
  old: Node | undefined,
  young: Node | undefined,
  level: FindingLevel,
): Violation {
  const text = (value: Node | undefined) => (value ? canonical(value) : 'nothing')
  const shownValue = (value: Node | undefined) =>
    value
      ? quoted('value', (value.type === 'scalar' ? String(value.value) : canonical(value)).slice(0, MAX_SHOWN))
      : message`nothing`
  const field = path.slice(path[0] === 'spec' ? 1 : 2).join('.')
  return {
    node,
    object,
    path,
    value: `${text(old)} to ${text(young)}`,
    level,
    message: message`${objectPart(id.kind, '', id.name)} weakens ${quoted('field', field)}: from ${shownValue(old)} to ${shownValue(young)}. Allowed: the previous value or a stricter one. Capsule accepts it.`,
    fix: message`Restore the previous value of ${part('field', field)}. To keep the change, waive the rule for this ${part('value', id.kind)} or merge with an override.`,
  }
}
