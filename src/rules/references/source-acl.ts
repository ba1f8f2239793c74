import { namespacePart, objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { references, referringKinds } from '../../flux/references.ts'
import { ACCESS_FROM, readSourceAcl } from '../../flux/source/source-acl.ts'
import { stringAt } from '../../kube/node.ts'
import { message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { isOwnSecret } from './support/is-own-secret.ts'
import { accessOf, sharedKinds } from './support/source-access.ts'

/** Who may use a source of another namespace is what its owner says there. */
export const sourceAcl: Rule = {
  id: 'source-acl',
  severity: 'high',
  title: 'Source that another namespace may not use',
  why: 'A source carries credentials: an object that refers to it deploys or pushes with them. A namespace selector with labels admits every namespace that can set these labels. A selector without labels admits all namespaces.',
  source: 'RFC-0002 (fluxcd/flux2#2092); CVE-2025-55205 for labels',
  docs: `Open a source with \`spec.accessFrom.namespaceSelectors\` (\`matchLabels\` only). Flux enforces the list of an ImageRepository only. The lists of other sources are provisional in Flux, and only the gate enforces them: where the kind does not have the field, write the same YAML into the annotation \`${ACCESS_FROM}\`. Without a list, only its own namespace may use the source. \`matchLabels: {}\` admits all namespaces, and an empty list none. Only labels that the platform writes and \`kubernetes.io/metadata.name\` count. With --no-cross-namespace-refs, Flux rejects every cross-namespace reference (\`cross-namespace-ref\`).`,
  kinds: [...new Set([...referringKinds, ...sharedKinds])],
  *checkTenantObject(subject, context) {
    yield* evaluateReferences(subject, context, subject.node.tenant)
    if (sharedKinds.includes(subject.kind)) yield* evaluateList(subject, context)
  },
}

function* evaluateReferences(
  { object, id, node }: Subject,
  { index }: RuleContext,
  tenant: string,
): Iterable<Violation> {
  for (const reference of references(object)) {
    const { namespace, path, kind, name } = reference
    if (namespace === null || namespace === id.namespace || index.owns(node.cluster, tenant, namespace)) continue
    const access = accessOf(index, node.cluster, id.namespace, reference)
    if (access !== 'closed' && access !== 'unreadable') continue
    const why =
      access === 'closed'
        ? 'whose access control list does not admit'
        : 'whose access control list is invalid, so it does not admit'
    const what = objectPart(kind, namespace, name)
    yield {
      node: index.nodeOf(node.cluster, object) ?? node,
      renderedBy: node,
      object,
      path,
      value: `${kind}/${namespace}/${name}`,
      message: message`${objectPart(id.kind, id.namespace, id.name)} refers to ${what}, ${why} ${namespacePart(id.namespace)}. Allowed: sources that admit this namespace by labels that the platform writes.`,
      fix: message`Ask the owner of ${what} to admit the namespace, or declare a separate source.`,
    }
  }
}

/** A list that a tenant writes for a source of its own. */
function* evaluateList({ object, id, node }: Subject, { index }: RuleContext): Iterable<Violation> {
  const acl = readSourceAcl(object)
  if (acl === undefined) return
  const inField = object.root.fields.get('spec')?.value
  const hasField = inField?.type === 'map' && inField.fields.has('accessFrom')
  const path = hasField ? ['spec', 'accessFrom'] : ['metadata', 'annotations', ACCESS_FROM]
  const who = objectPart(id.kind, id.namespace, id.name)
  if (acl === 'unreadable') {
    const problem = message`${who} has an invalid access control list, so it admits no namespace. Allowed: namespaceSelectors, a list of maps with matchLabels.`
    const fix = message`Rewrite the list as namespaceSelectors with only matchLabels.`
    yield { node, object, path, value: 'unreadable', message: problem, fix, level: 'warning' }
    return
  }
  if (!acl.some(selector => selector.size === 0)) return
  const secret = stringAt(object.root, ['spec', 'secretRef', 'name'])
  const isForeign = secret !== undefined && !isOwnSecret(index, node, id.namespace, secret)
  const whose = isForeign
    ? message`, with the credentials of Secret ${quoted('object', secret)}, which is not the tenant's own`
    : ''
  yield {
    node,
    object,
    path,
    value: 'everybody',
    message: message`${who} admits every namespace of the cluster${whose}. Allowed: namespaces selected by labels.`,
    fix: message`Set matchLabels to labels that the platform writes, or to kubernetes.io/metadata.name.`,
    ...(isForeign ? {} : { level: 'warning' }),
  }
}
